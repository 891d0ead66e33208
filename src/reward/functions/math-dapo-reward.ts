import { z } from 'zod'
import { TrinityError } from '../../base/error.js'
import { extractAnswer } from '../extract.js'
import { gradeMath } from '../math/grade.js'
import { overlongPenalty } from '../overlong.js'
import { type RewardInput, rewardFn } from '../reward.js'
import { afterThinking } from '../tags.js'
import { truthText } from '../truth.js'

const args = z
  .strictObject({
    enable_overlong_penalty: z.boolean().nullable().default(null).describe('Whether long responses cost something.'),
    penalty_factor: z.number().nullable().default(null).describe('What the longest responses cost.'),
    max_response_length: z.int().positive().nullable().default(null).describe('Length limit in tokens.'),
    cache_length: z.int().nonnegative().nullable().default(null).describe('Tokens before the limit in which it grows.'),
  })
  .refine(
    (a) =>
      !a.enable_overlong_penalty ||
      (a.penalty_factor !== null && a.max_response_length !== null && a.cache_length !== null),
    { error: 'enable_overlong_penalty needs penalty_factor, max_response_length and cache_length' },
  )
  .refine((a) => (a.cache_length ?? 0) <= (a.max_response_length ?? Number.POSITIVE_INFINITY), {
    error: 'cache_length cannot be longer than max_response_length',
  })

export const mathDapoReward = rewardFn({
  doc: 'Accuracy ±1 of the last \\boxed{…} after the thinking, and a penalty for responses near the length limit.',
  needsTruth: true,
  args,
  score(input, given) {
    const truth = truthText(input)
    const answer = extractAnswer(afterThinking(input.response), 'boxed')
    return {
      accuracy: answer !== null && gradeMath(answer, truth) ? 1 : -1,
      format_score: given.enable_overlong_penalty ? penalty(input, given) : 0,
    }
  },
})

function penalty({ responseTokens }: RewardInput, given: z.output<typeof args>): number {
  if (responseTokens === undefined) {
    throw new TrinityError('reward/no-tokens', 'the overlong penalty needs the tokens of the response', {
      hint: 'use a workflow that passes them on, or set enable_overlong_penalty to false',
    })
  }
  return overlongPenalty(responseTokens.length, {
    maxResponseLength: given.max_response_length!,
    cacheLength: given.cache_length!,
    penaltyFactor: given.penalty_factor!,
  })
}
