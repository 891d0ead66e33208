import { z } from 'zod'
import { extractAnswer } from '../extract.js'
import { gradeMath } from '../math/grade.js'
import { rewardFn } from '../reward.js'
import { hasOneThinkPair } from '../tags.js'
import { truthText } from '../truth.js'

export const mathBoxedReward = rewardFn({
  doc: 'Accuracy 0 or 1 of the last \\boxed{…}; with_think subtracts format_score_coef unless there is one <think> pair.',
  needsTruth: true,
  args: z.strictObject({
    with_think: z.boolean().default(false).describe('Whether the response must think in one <think>…</think>.'),
    format_score_coef: z.number().default(0.1).describe('What a missing or repeated <think> pair costs.'),
  }),
  score(input, args) {
    const truth = truthText(input)
    const answer = extractAnswer(input.response, 'boxed')
    const withThink = input.withThink ?? args.with_think
    const cost = input.formatScoreCoef ?? args.format_score_coef
    return {
      accuracy: answer !== null && gradeMath(answer, truth) ? 1 : 0,
      format_score: withThink && !hasOneThinkPair(input.response) ? -cost : 0,
    }
  },
})
