import { z } from 'zod'
import { patternText } from '../args.js'
import { matchesFromStart } from '../pattern.js'
import { rewardFn } from '../reward.js'
import { isThinkAnswerDocument } from '../tags.js'

export const formatReward = rewardFn({
  doc: '±0.1 for a response that is <think> and <answer> with their tags on lines of their own, or that matches a pattern.',
  args: z.strictObject({ pattern: patternText }),
  score({ response }, { pattern }) {
    const formed = pattern === null ? isThinkAnswerDocument(response) : matchesFromStart(pattern, response)
    return { format_score: formed ? 0.1 : -0.1 }
  },
})
