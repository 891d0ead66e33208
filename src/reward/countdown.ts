import { z } from 'zod'
import { TrinityError } from '../base/error.js'
import { jsonIn } from '../base/json-text.js'
import { readArithmetic } from './arithmetic.js'
import { add, compare, negate, parseDecimal, type Rational, rational } from './math/rational.js'

/** Numbers to use once each, and what they are to make. */
export interface CountdownPuzzle {
  readonly target: Rational
  readonly numbers: readonly Rational[]
}

/** What is wrong with an equation: no arithmetic, other numbers than the given ones, or another value. */
export type CountdownFault = 'expression' | 'numbers' | 'value'

const TOLERANCE = rational(1n, 100_000n)!

/** Undefined: it uses every number once and reaches the target. */
export function countdownFault(equation: string, { target, numbers }: CountdownPuzzle): CountdownFault | undefined {
  const arithmetic = readArithmetic(equation)
  if (arithmetic === undefined) return 'expression'
  const used = [...arithmetic.numbers].sort(compare)
  const given = [...numbers].sort(compare)
  if (used.length !== given.length || !used.every((number, k) => compare(number, given[k]!) === 0)) return 'numbers'
  const difference = arithmetic.value && add(arithmetic.value, negate(target))
  if (difference === undefined) return 'value'
  const size = difference.n < 0n ? negate(difference) : difference
  return compare(size, TOLERANCE) < 0 ? undefined : 'value'
}

const numeral = z.union([z.number(), z.bigint(), z.string().regex(/^-?\d+(?:\.\d+)?$/)])
const schema = z.object({ target: numeral, numbers: z.array(numeral).optional(), nums: z.array(numeral).optional() })

/** `{"target": 98, "numbers": [44, 19, 35]}`, as text or as an object; `nums` is the name other sets use. */
export function countdownPuzzle(truth: unknown): CountdownPuzzle {
  const parsed = schema.safeParse(typeof truth === 'string' ? jsonIn(truth) : truth)
  const numbers = parsed.data?.numbers ?? parsed.data?.nums
  if (!parsed.success || numbers === undefined) {
    throw new TrinityError('reward/no-truth', 'a CountDown task needs a target and its numbers', {
      hint: 'the truth looks like {"target": 98, "numbers": [44, 19, 35]}',
    })
  }
  return { target: exactly(parsed.data.target), numbers: numbers.map(exactly) }
}

function exactly(value: number | bigint | string): Rational {
  const text = String(value)
  const size = parseDecimal(text.replace('-', ''))
  if (size === undefined) throw new TrinityError('reward/no-truth', `'${text}' is not a number of a CountDown task`)
  return text.startsWith('-') ? negate(size) : size
}
