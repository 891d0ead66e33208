import { IMPOSSIBLE, NOTHING, type Part } from '../grammar.js'
import type { SchemaCompiler } from './compile.js'
import type { Conjunction } from './document.js'
import { below, countOf, type Located, located, unsupported } from './keywords.js'

/** Places of a tuple that are told apart; behind them all are alike. */
const MOST_PLACES = 2_000

/** Arrays that fit all of some schemas. */
export function arrayPart(compiler: SchemaCompiler, all: Conjunction): Part {
  const { grammar, text } = compiler
  const lists = all.map(itemsOf)
  const min = Math.max(0, ...all.map((one) => countOf(one, 'minItems') ?? 0))
  let max = Math.min(...all.map((one) => countOf(one, 'maxItems') ?? Number.POSITIVE_INFINITY))
  for (const { first, rest } of lists) if (rest === false) max = Math.min(max, first.length)
  for (const { schema, pointer } of all) {
    if (schema.uniqueItems === true && max > 1) {
      throw unsupported(below(pointer, 'uniqueItems'), 'uniqueItems cannot be enforced')
    }
  }
  if (min > max) return IMPOSSIBLE
  const places = Math.max(0, ...lists.map(({ first }) => first.length))
  if (places > MOST_PLACES)
    throw unsupported(all[0].pointer, `more than ${MOST_PLACES} items have schemas of their own`)

  const item = (place: number) =>
    compiler.every(lists.map(({ first, rest }) => (place < first.length ? first[place] : rest)))
  const comma = grammar.terminal(text.mark(',', true, true))
  const more = (place: number) => grammar.seq(comma, item(place))
  // from the last place that has a schema of its own back to the first
  let tail = grammar.repeat(more(places), Math.max(0, min - Math.max(places, 1)), max - Math.max(places, 1))
  for (let place = places - 1; place > 0; place--) {
    tail = grammar.alt(place >= min ? NOTHING : IMPOSSIBLE, place < max ? grammar.seq(more(place), tail) : IMPOSSIBLE)
  }
  const [open, close] = [grammar.terminal(text.mark('[', false, true)), grammar.text(']')]
  return grammar.seq(
    open,
    grammar.alt(
      min === 0 ? close : IMPOSSIBLE,
      max > 0 ? grammar.seq(item(0), tail, grammar.terminal(text.mark(']', true, false))) : IMPOSSIBLE,
    ),
  )
}

interface Items {
  readonly first: readonly (Located | boolean)[]
  readonly rest: Located | boolean
}

/** `prefixItems` and `items`, or a list in `items` and `additionalItems` as older drafts have it. */
function itemsOf({ schema, pointer }: Located): Items {
  const older = Array.isArray(schema.items)
  const [firstKey, restKey] = older ? ['items', 'additionalItems'] : ['prefixItems', 'items']
  const first = (schema[firstKey] ?? []) as unknown[]
  if (!Array.isArray(first)) throw unsupported(below(pointer, firstKey), `${firstKey} must be a list`)
  return {
    first: first.map((one, i) => located(one, below(pointer, firstKey, i))),
    rest: schema[restKey] === undefined ? true : located(schema[restKey], below(pointer, restKey)),
  }
}
