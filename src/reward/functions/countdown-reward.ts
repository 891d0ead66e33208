import { z } from 'zod'
import { countdownFault, countdownPuzzle } from '../countdown.js'
import { extractAnswer } from '../extract.js'
import { rewardFn } from '../reward.js'

export const countdownReward = rewardFn({
  doc: '1 for an equation that uses every number once and reaches the target, 0.1 for another answer, 0 for none.',
  needsTruth: true,
  args: z.strictObject({}),
  score({ response, truth }) {
    const puzzle = countdownPuzzle(truth)
    const answer = extractAnswer(response, 'last_answer_tag')
    if (answer === null) return { score: 0 }
    return { score: countdownFault(answer, puzzle) === undefined ? 1 : 0.1 }
  },
})
