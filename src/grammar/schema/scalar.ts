import { formatNames, formatPattern } from '../json/format.js'
import { type NumberBounds, numberBetween } from '../json/number-range.js'
import type { JsonText } from '../json/text.js'
import { MOST_DIGITS } from '../json/text.js'
import { ANY, inJson } from '../regular/characters.js'
import type { Expression } from '../regular/expression.js'
import { patternExpression } from '../regular/pattern.js'
import type { Conjunction } from './document.js'
import { ABOUT, below, countOf, type Located, numberOf, textOf, unsupported } from './keywords.js'

/** Strings that fit all of some schemas. */
export function stringExpression(text: JsonText, all: Conjunction): Expression {
  const { all: regular } = text
  const min = Math.max(0, ...all.map((one) => countOf(one, 'minLength') ?? 0))
  const max = Math.min(...all.map((one) => countOf(one, 'maxLength') ?? Number.POSITIVE_INFINITY))
  if (min > max) return 0
  const patterns = all.flatMap((one) => patternsOf(text, one))
  if (patterns.length === 0)
    return min === 0 && max === Number.POSITIVE_INFINITY ? text.string : text.stringOf(min, max)
  const bounded = min > 0 || max < Number.POSITIVE_INFINITY
  const length = regular.repeat(inJson(regular, ANY), min, max)
  return text.spelled(regular.and(...patterns, ...(bounded ? [length] : [])))
}

/** The patterns of a schema, over what stands between the quotes. */
function patternsOf(text: JsonText, one: Located): Expression[] {
  const [pattern, format] = [textOf(one, 'pattern'), textOf(one, 'format')]
  const found: Expression[] = []
  if (pattern !== undefined) found.push(keyPattern(text, pattern, below(one.pointer, 'pattern')))
  if (format !== undefined) {
    const known = formatPattern(format)
    const path = below(one.pointer, 'format')
    if (known === undefined) {
      throw unsupported(path, `the format '${format}' cannot be enforced`, `known: ${formatNames.join(', ')}`)
    }
    found.push(patternExpression(text.all, known, { spelling: inJson, covers: 'whole', path }))
  }
  return found
}

/** A pattern of JSON Schema: it may fit anywhere in the string. */
export function keyPattern(text: JsonText, pattern: string, path: string): Expression {
  return patternExpression(text.all, pattern, { spelling: inJson, covers: 'somewhere', path })
}

/** Numbers that fit all of some schemas. */
export function numberExpression(text: JsonText, all: Conjunction, whole: boolean): Expression {
  if (!all.some(({ schema }) => ABOUT.number.some((key) => schema[key] !== undefined))) {
    return whole ? text.signed(text.integer) : text.number
  }
  const { all: regular } = text
  let decimals = whole ? 0 : MOST_DIGITS
  const multiples: Expression[] = []
  for (const one of all) {
    const step = numberOf(one, 'multipleOf')
    if (step === undefined) continue
    const places = decimalsOf(step)
    if (places !== undefined) decimals = Math.min(decimals, places)
    else if (Number.isSafeInteger(step) && step > 0 && step < 1e9) {
      decimals = 0
      multiples.push(regular.seq(regular.optional(regular.byte(0x2d)), regular.multiple(step)))
    } else
      throw unsupported(
        below(one.pointer, 'multipleOf'),
        'multipleOf must be a whole number below 10⁹, or 0.1, 0.01, …',
      )
  }
  const bounds = boundsOf(all)
  const between = numberBetween(text, bounds, decimals)
  if (between === undefined) {
    throw unsupported(all[0].pointer, `bounds of numbers may have ${MOST_DIGITS} digits before and behind the point`)
  }
  return regular.and(between, ...multiples)
}

/** 1, 0.1, 0.01, …: so many digits behind the point. */
function decimalsOf(step: number): number | undefined {
  const found = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].find((places) => Number(`1e-${places}`) === step)
  return found
}

function boundsOf(all: Conjunction): NumberBounds {
  let bounds: NumberBounds = {}
  const raise = (min: number, minOpen: boolean) => {
    const { min: now = Number.NEGATIVE_INFINITY, minOpen: open = false } = bounds
    if (min > now || (min === now && minOpen && !open)) bounds = { ...bounds, min, minOpen }
  }
  const lower = (max: number, maxOpen: boolean) => {
    const { max: now = Number.POSITIVE_INFINITY, maxOpen: open = false } = bounds
    if (max < now || (max === now && maxOpen && !open)) bounds = { ...bounds, max, maxOpen }
  }
  for (const one of all) {
    const [min, max] = [numberOf(one, 'minimum'), numberOf(one, 'maximum')]
    // older drafts say by a boolean that minimum itself is left out
    const above = one.schema.exclusiveMinimum
    const under = one.schema.exclusiveMaximum
    if (min !== undefined) raise(min, above === true)
    if (max !== undefined) lower(max, under === true)
    if (typeof above !== 'boolean' && above !== undefined) raise(numberOf(one, 'exclusiveMinimum')!, true)
    if (typeof under !== 'boolean' && under !== undefined) lower(numberOf(one, 'exclusiveMaximum')!, true)
  }
  return bounds
}

/** Scalars of a list, in the spelling of JSON.stringify. */
export function literalExpression(text: JsonText, values: readonly unknown[]): Expression {
  return values.length === 0 ? 0 : text.all.oneOf(values.map((value) => JSON.stringify(value)))
}
