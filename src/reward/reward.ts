import { z } from 'zod'
import { TrinityError } from '../base/error.js'

/** What a reward function may look at. A workflow fills in what it knows. */
export interface RewardInput {
  response: string
  /** What the right answer is, as the task set gives it. */
  truth?: unknown
  prompt?: string
  responseTokens?: ArrayLike<number>
  /** Whether the response was cut off at the length limit. */
  truncated?: boolean
  /** The row of the task set. */
  raw?: Record<string, unknown>
  /** Options of the workflow; they count more than the arguments of the same meaning. */
  withThink?: boolean
  formatScoreCoef?: number
  /** Fires when the reward has taken too long, and with the run: give it to `fetch` and the like. */
  signal?: AbortSignal
}

/** The parts of a reward by name. The reward is their sum; each part is also a metric. */
export type RewardParts = Record<string, number>

/**
 * A way to judge an answer, by name in the registry.
 * @example
 * import { type RewardFn, rewardFns } from 'trinity-rft'
 *
 * const grade: RewardFn = rewardFns.get('math_reward')
 * console.log(grade.doc)
 */
export interface RewardFn {
  readonly doc: string
  /** It compares with the truth: a task set without one is refused. */
  readonly needsTruth?: boolean
  /** Every argument has a default; unknown names are refused. */
  readonly args: z.ZodObject
  /** Throws when there is no reward to give: an absent reward is not 0. */
  score(input: RewardInput, args: never): RewardParts | Promise<RewardParts>
}

/**
 * Describes a reward function for the registry; `score` gets its arguments checked and with their types. Without `args` it takes none.
 * @example
 * import { rewardFn, rewardFns, z } from 'trinity-rft'
 *
 * rewardFns.add('short', rewardFn({
 *   doc: '1 for a response of at most `limit` letters',
 *   args: z.strictObject({ limit: z.int().default(200) }),
 *   score: ({ response }, { limit }) => ({ short: response.length <= limit ? 1 : 0 }),
 * }))
 */
export function rewardFn<S extends z.ZodObject = z.ZodObject<Record<never, never>>>(fn: {
  doc: string
  needsTruth?: boolean
  args?: S
  score(input: RewardInput, args: z.output<S>): RewardParts | Promise<RewardParts>
}): RewardFn {
  if (typeof fn.score !== 'function') {
    throw new TrinityError('reward/no-score', `a reward function without score: ${fn.doc}`, {
      path: 'score',
      hint: 'give score: (input, args) => ({ part: number }), a function that returns named numbers',
    })
  }
  return { ...fn, args: fn.args ?? z.strictObject({}) }
}
