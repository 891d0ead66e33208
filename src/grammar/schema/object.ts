import { type Grammar, IMPOSSIBLE, type Part } from '../grammar.js'
import { DEAD } from '../regular/automaton.js'
import { EMPTY, type Expression } from '../regular/expression.js'
import type { SchemaCompiler } from './compile.js'
import type { Conjunction } from './document.js'
import { below, countOf, type Located, listOf, located, schemasOf, unsupported } from './keywords.js'
import { keyPattern } from './scalar.js'

const MOST_NAMES = 5_000

/** What one schema says of the properties of an object. */
interface Properties {
  readonly named: ReadonlyMap<string, Located | boolean>
  readonly patterns: readonly { source: string; names: Expression; schema: Located | boolean }[]
  /** Of properties that are neither named nor fit a pattern; undefined: nothing. */
  readonly others: Located | boolean | undefined
}

/**
 * Objects that fit all of some schemas: the properties that have a name come in the order of the schema, others behind
 * them. Where properties are listed and nothing is said of others, none are written.
 */
export function objectPart(compiler: SchemaCompiler, all: Conjunction): Part {
  const { grammar, text } = compiler
  const parts = all.map((one) => propertiesOf(compiler, one))
  const required = new Set(all.flatMap(requiredOf))
  const names = [...new Set([...parts.flatMap(({ named }) => [...named.keys()]), ...required])]
  if (names.length > MOST_NAMES) throw unsupported(all[0].pointer, `an object has more than ${MOST_NAMES} properties`)
  const nameable = nameExpression(compiler, all)
  const value = (name: string) =>
    nameable !== undefined && !fits(grammar, nameable, JSON.stringify(name))
      ? IMPOSSIBLE
      : compiler.every(parts.flatMap((part) => schemasFor(grammar, part, name)))

  const members = otherMembers(compiler, parts, names, nameable)
  const limits = countsOf(all, required.size, names.length, members !== IMPOSSIBLE)
  if (limits === undefined) return IMPOSSIBLE
  const comma = text.mark(',', true, true)
  const close = grammar.terminal(text.mark('}', true, false))
  const more = grammar.repeat(grammar.seq(grammar.terminal(comma), members), 0, limits.others)
  // what may come behind property i: with nothing written yet, and with something
  let empty = grammar.alt(
    limits.min === 0 ? grammar.text('}') : IMPOSSIBLE,
    limits.others === 0
      ? IMPOSSIBLE
      : grammar.seq(
          members,
          grammar.repeat(grammar.seq(grammar.terminal(comma), members), 0, limits.others - 1),
          close,
        ),
  )
  let begun = grammar.seq(more, close)
  for (const name of names.reverse()) {
    const label = text.name(text.all.text(JSON.stringify(name)))
    const one = value(name)
    const member = (before: Expression) => grammar.seq(grammar.terminal(text.all.seq(before, label)), one, begun)
    const [withEmpty, withBegun] = [member(EMPTY), member(comma)]
    empty = required.has(name) ? withEmpty : grammar.alt(withEmpty, empty)
    begun = required.has(name) ? withBegun : grammar.alt(withBegun, begun)
  }
  return grammar.seq(grammar.terminal(text.mark('{', false, true)), empty)
}

function propertiesOf({ text }: SchemaCompiler, one: Located): Properties {
  const { schema, pointer } = one
  const named = schemasOf(one, 'properties')
  const patterns = [...schemasOf(one, 'patternProperties')].map(([source, inner]) => ({
    source,
    names: text.spelled(keyPattern(text, source, below(pointer, 'patternProperties', source))),
    schema: inner,
  }))
  const others = schema.additionalProperties
  return {
    named,
    patterns,
    others: others === undefined ? undefined : located(others, below(pointer, 'additionalProperties')),
  }
}

function requiredOf(one: Located): string[] {
  // older drafts have a boolean at each property
  if (typeof one.schema.required === 'boolean')
    throw unsupported(below(one.pointer, 'required'), 'required must be a list')
  const list = listOf(one, 'required') ?? []
  if (list.every((name) => typeof name === 'string')) return list as string[]
  throw unsupported(below(one.pointer, 'required'), 'required must be a list of names')
}

/** What one schema demands of the property of this name. */
function schemasFor(grammar: Grammar, { named, patterns, others }: Properties, name: string): (Located | boolean)[] {
  const found = patterns.filter(({ names }) => fits(grammar, names, JSON.stringify(name))).map(({ schema }) => schema)
  const own = named.get(name)
  if (own !== undefined) found.push(own)
  return found.length > 0 ? found : [others ?? true]
}

/** Properties without a name of their own: one that fits a pattern, or any other. */
function otherMembers(
  compiler: SchemaCompiler,
  parts: readonly Properties[],
  names: readonly string[],
  nameable: Expression | undefined,
): Part {
  const { grammar, text } = compiler
  const { all } = text
  const patterns = new Map(parts.flatMap((part) => part.patterns.map(({ source, names }) => [source, names] as const)))
  const free = names.length === 0 && patterns.size === 0 && nameable === undefined
  const taken = names.length === 0 ? [] : [all.not(all.oneOf(names.map((name) => JSON.stringify(name))))]
  const limits = nameable === undefined ? [] : [nameable]
  const member = (own: readonly Expression[], schemas: readonly (Located | boolean)[]) => {
    const name = free ? text.string : all.and(text.spelled(), ...own, ...taken, ...limits)
    return grammar.seq(grammar.terminal(text.name(name)), compiler.every(schemas))
  }
  const without = (source?: string) =>
    [...patterns].filter(([one]) => one !== source).map(([, pattern]) => all.not(pattern))

  const options = [...patterns].map(([source, pattern]) =>
    // a name that fits two patterns is never written
    member(
      [pattern, ...without(source)],
      parts.map((part) => part.patterns.find((one) => one.source === source)?.schema ?? part.others ?? true),
    ),
  )
  const listed = parts.some((part) => part.named.size > 0 || part.patterns.length > 0)
  const spoken = parts.some(({ others }) => others !== undefined)
  if (spoken || !listed)
    options.push(
      member(
        without(),
        parts.map(({ others }) => others ?? true),
      ),
    )
  return grammar.alt(...options)
}

/** Names that all `propertyNames` allow. */
function nameExpression(compiler: SchemaCompiler, all: Conjunction): Expression | undefined {
  const found = all.flatMap(({ schema, pointer }) =>
    schema.propertyNames === undefined ? [] : [located(schema.propertyNames, below(pointer, 'propertyNames'))],
  )
  if (found.length === 0) return undefined
  if (found.includes(false)) return 0
  return compiler.strings(found.filter((one): one is Located => typeof one !== 'boolean'))
}

/** How many properties there must be, and how many others there may be; undefined: no number would do. */
function countsOf(
  all: Conjunction,
  required: number,
  names: number,
  open: boolean,
): { min: number; others: number } | undefined {
  const min = Math.max(0, ...all.map((one) => countOf(one, 'minProperties') ?? 0))
  const max = Math.min(...all.map((one) => countOf(one, 'maxProperties') ?? Number.POSITIVE_INFINITY))
  const fail = (key: string) => unsupported(all[0].pointer, `${key} cannot be enforced with these properties`)
  if (max < required || min > max) return undefined
  // two others may have the same name, so that more than one cannot be counted on
  if (min > Math.max(required, 1)) throw fail('minProperties')
  if (max < Number.POSITIVE_INFINITY && required < names && (open || max < names)) throw fail('maxProperties')
  return { min: required > 0 ? 0 : min, others: open ? max - names : 0 }
}

function fits({ automaton }: Grammar, expression: Expression, text: string): boolean {
  let state = automaton.state(expression)
  for (const byte of Buffer.from(text)) state = automaton.next(state, byte)
  return state !== DEAD && automaton.isFinal(state)
}
