import { z } from 'zod'
import { answerParsers } from '../answer/registry.js'
import { answerParserName, patternText } from '../args.js'
import { extractAnswer } from '../extract.js'
import { gradeMath } from '../math/grade.js'
import { matchesFromStart } from '../pattern.js'
import { rewardFn } from '../reward.js'
import { afterThinking, endsWithThinkAndAnswer } from '../tags.js'
import { truthText } from '../truth.js'

/** The first <answer>, else what follows the thinking; in it, whatever is given as the answer. */
export function mathAnswer(response: string): string | null {
  return extractAnswer(extractAnswer(response, 'answer_tag') ?? afterThinking(response), 'final')
}

export const mathReward = rewardFn({
  doc: 'Accuracy 0 or 1 of a math answer, and ±0.1 for <think>…</think><answer>…</answer>.',
  needsTruth: true,
  args: z.strictObject({ answer_parser: answerParserName, pattern: patternText }),
  score(input, { answer_parser, pattern }) {
    const { response } = input
    const truth = truthText(input)
    const answer = answer_parser === null ? mathAnswer(response) : answerParsers.get(answer_parser).parse(response)
    const formed = pattern === null ? endsWithThinkAndAnswer(response) : matchesFromStart(pattern, response)
    return { accuracy: answer !== null && gradeMath(answer, truth) ? 1 : 0, format_score: formed ? 0.1 : -0.1 }
  },
})
