import { z } from 'zod'
import { TrinityError } from '../../base/error.js'
import { readArithmetic } from '../arithmetic.js'
import { extractAnswer } from '../extract.js'
import { add, compare, negate, parseDecimal, type Rational, rational } from '../math/rational.js'
import { type RewardInput, rewardFn } from '../reward.js'

interface Puzzle {
  target: Rational
  numbers: Rational[]
}

const TOLERANCE = rational(1n, 100_000n)!

export const countdownReward = rewardFn({
  doc: '1 for an equation that uses every number once and reaches the target, 0.1 for another answer, 0 for none.',
  needsTruth: true,
  args: z.strictObject({}),
  score(input) {
    const puzzle = puzzleOf(input)
    const answer = extractAnswer(input.response, 'last_answer_tag')
    if (answer === null) return { score: 0 }
    return { score: solves(answer, puzzle) ? 1 : 0.1 }
  },
})

function solves(equation: string, { target, numbers }: Puzzle): boolean {
  const arithmetic = readArithmetic(equation)
  if (arithmetic?.value === undefined || arithmetic.numbers.length !== numbers.length) return false
  const used = [...arithmetic.numbers].sort(compare)
  const given = [...numbers].sort(compare)
  if (!used.every((number, k) => compare(number, given[k]!) === 0)) return false
  const difference = add(arithmetic.value, negate(target))
  if (difference === undefined) return false
  const size = difference.n < 0n ? negate(difference) : difference
  return compare(size, TOLERANCE) < 0
}

const numeral = z.union([z.number(), z.bigint(), z.string().regex(/^-?\d+(?:\.\d+)?$/)])
const schema = z.object({ target: numeral, numbers: z.array(numeral).optional(), nums: z.array(numeral).optional() })

/** `{"target": 98, "numbers": [44, 19, 35]}`, as text or as an object; `nums` is the name other sets use. */
function puzzleOf({ truth }: RewardInput): Puzzle {
  const parsed = schema.safeParse(typeof truth === 'string' ? json(truth) : truth)
  const numbers = parsed.data?.numbers ?? parsed.data?.nums
  if (!parsed.success || numbers === undefined) {
    throw new TrinityError('reward/no-truth', 'a CountDown task needs a target and its numbers', {
      hint: 'the truth looks like {"target": 98, "numbers": [44, 19, 35]}',
    })
  }
  return { target: exactly(parsed.data.target), numbers: numbers.map(exactly) }
}

function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function exactly(value: number | bigint | string): Rational {
  const text = String(value)
  const size = parseDecimal(text.replace('-', ''))
  if (size === undefined) throw new TrinityError('reward/no-truth', `'${text}' is not a number of a CountDown task`)
  return text.startsWith('-') ? negate(size) : size
}
