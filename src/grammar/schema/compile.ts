import { TrinityError } from '../../base/error.js'
import { type Grammar, IMPOSSIBLE, type Part } from '../grammar.js'
import { JsonText, type Whitespace } from '../json/text.js'
import type { Expression } from '../regular/expression.js'
import { arrayPart } from './array.js'
import { type Apart, type Conjunction, SchemaDocument } from './document.js'
import { ABOUT, below, type Located, listOf, unsupported } from './keywords.js'
import { objectPart } from './object.js'
import { literalExpression, numberExpression, stringExpression } from './scalar.js'
import { checkSize } from './size.js'
import { differByConstant, valuesOf } from './values.js'

/** The values that fit a JSON Schema, as a part of a grammar. */
export function schemaPart(grammar: Grammar, schema: unknown, whitespace?: Whitespace): Part {
  checkSize(schema)
  return new SchemaCompiler(grammar, schema, whitespace).compile()
}

const TYPES = ['null', 'boolean', 'integer', 'number', 'string', 'array', 'object'] as const
type Type = (typeof TYPES)[number]

/** Turns schemas into parts of a grammar. Each combination of schemas becomes one rule, so that recursion just works. */
export class SchemaCompiler {
  readonly grammar: Grammar
  readonly text: JsonText
  readonly #document: SchemaDocument
  readonly #rules = new Map<string, Part>()
  readonly #waiting: { rule: Part; all: Conjunction }[] = []

  constructor(grammar: Grammar, schema: unknown, whitespace?: Whitespace) {
    this.grammar = grammar
    this.text = new JsonText(grammar, whitespace)
    this.#document = new SchemaDocument(schema)
  }

  compile(): Part {
    const { root } = this.#document
    const part = root === false ? IMPOSSIBLE : this.value(root)
    this.#finish()
    this.#checkApart()
    if (this.grammar.possible(part)) return part
    throw new TrinityError('grammar/schema', 'no value fits the schema', {
      path: '#',
      hint: 'look for required properties that are impossible, contradicting bounds, and references without an end',
    })
  }

  /** Values that fit all of some schemas. */
  every(all: readonly (Located | boolean)[]): Part {
    if (all.includes(false)) return IMPOSSIBLE
    return this.value(all.filter((one): one is Located => typeof one !== 'boolean'))
  }

  value(all: Conjunction): Part {
    if (all.length === 0) return this.text.value
    const key = [...new Set(all.map(({ pointer }) => pointer))].sort().join('\n')
    const known = this.#rules.get(key)
    if (known !== undefined) return known
    const rule = this.grammar.rule()
    this.#rules.set(key, rule)
    this.#waiting.push({ rule, all })
    return rule
  }

  /** Strings that fit all of some schemas, each in one spelling. */
  strings(all: Conjunction): Expression {
    const found = this.#document.alternatives(all).map((one) => {
      const types = typesOf(one, 'string')
      return types.has('string') ? this.#scalars(one, new Set(['string'])) : 0
    })
    return this.text.all.and(this.text.spelled(), this.text.all.alt(...found))
  }

  #finish(): void {
    for (let next = this.#waiting.pop(); next; next = this.#waiting.pop()) {
      const scalars: Expression[] = []
      const parts: Part[] = []
      for (const one of this.#document.alternatives(next.all)) {
        if (one.length === 0) parts.push(this.text.value)
        else {
          const types = typesOf(one)
          scalars.push(this.#scalars(one, types))
          parts.push(...this.#containers(one, types))
        }
      }
      // one automaton for all scalars: fewer ways to follow at once
      const together = this.text.all.alt(...scalars)
      this.grammar.define(next.rule, this.grammar.alt(this.grammar.terminal(together), ...parts))
    }
  }

  #scalars(all: Conjunction, types: ReadonlySet<Type>): Expression {
    const { text } = this
    const values = valuesOf(all)
    if (values) {
      const fitting = (wanted: Type) => values.filter((value) => types.has(wanted) && typeOf(value) === wanted)
      const numbers = literalExpression(text, [...fitting('integer'), ...fitting('number')])
      const strings = literalExpression(text, fitting('string'))
      return text.all.alt(
        literalExpression(text, [...fitting('null'), ...fitting('boolean')]),
        says(all, 'number') ? text.all.and(numbers, numberExpression(text, all, !types.has('number'))) : numbers,
        says(all, 'string') ? text.all.and(strings, stringExpression(text, all)) : strings,
      )
    }
    return text.all.alt(
      types.has('null') ? text.all.text('null') : 0,
      types.has('boolean') ? text.all.oneOf(['true', 'false']) : 0,
      types.has('integer') ? numberExpression(text, all, !types.has('number')) : 0,
      types.has('string') ? stringExpression(text, all) : 0,
    )
  }

  #containers(all: Conjunction, types: ReadonlySet<Type>): Part[] {
    const values = valuesOf(all)
    if (!values) {
      return [
        types.has('array') ? arrayPart(this, all) : IMPOSSIBLE,
        types.has('object') ? objectPart(this, all) : IMPOSSIBLE,
      ]
    }
    const fitting = values.filter((value) => {
      const type = typeOf(value)
      return (type === 'array' || type === 'object') && types.has(type)
    })
    if (fitting.length > 0 && (says(all, 'array') || says(all, 'object'))) {
      throw unsupported(all[0].pointer, 'further keywords cannot be enforced on constant lists or objects')
    }
    return fitting.map((value) => this.text.constant(value))
  }

  /** Alternatives of a oneOf that share a value would need counting. */
  #checkApart(): void {
    const checked = new Set<string>()
    const open: { rule: Part; apart: Apart }[] = []
    for (let found = this.#document.takeApart(); found.length > 0; found = this.#document.takeApart()) {
      for (const apart of found) {
        const key = apart.both.map(({ pointer }) => pointer).join('\n')
        if (checked.has(key) || differByConstant(apart.both)) continue
        checked.add(key)
        open.push({ rule: this.value(apart.both), apart })
      }
      this.#finish()
    }
    for (const { rule, apart } of open) {
      if (!this.grammar.possible(rule)) continue
      throw unsupported(
        below(apart.pointer, 'oneOf'),
        `a value may fit alternatives ${apart.which[0]} and ${apart.which[1]} at once`,
        'use anyOf, or give each alternative a required property with a constant of its own',
      )
    }
  }
}

/** The types that all of some schemas allow. Where none is named, those that their other keywords are about. */
function typesOf(all: Conjunction, otherwise?: Type): Set<Type> {
  const named = all.flatMap((one) => (one.schema.type === undefined ? [] : [typesIn(one)]))
  if (named.length > 0) return new Set(TYPES.filter((type) => named.every((set) => set.has(type))))
  if (otherwise) return new Set([otherwise])
  const about = (Object.keys(ABOUT) as (keyof typeof ABOUT)[]).filter((kind) => says(all, kind))
  if (about.length === 0) return new Set(TYPES)
  return new Set(TYPES.filter((type) => about.includes((type === 'integer' ? 'number' : type) as keyof typeof ABOUT)))
}

function typesIn(one: Located): Set<Type> {
  const { type } = one.schema
  const names = Array.isArray(type) ? listOf(one, 'type')! : [type]
  for (const name of names) {
    if (TYPES.includes(name as Type)) continue
    throw unsupported(
      below(one.pointer, 'type'),
      `there is no type ${JSON.stringify(name)}`,
      `known: ${TYPES.join(', ')}`,
    )
  }
  return new Set([...(names as Type[]), ...(names.includes('number') ? (['integer'] as const) : [])])
}

function says(all: Conjunction, kind: keyof typeof ABOUT): boolean {
  return all.some(({ schema }) => ABOUT[kind].some((key) => schema[key] !== undefined))
}

function typeOf(value: unknown): Type {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value as Type
}
