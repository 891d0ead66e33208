import { z } from 'zod'
import { answerParsers } from '../answer/registry.js'
import { answerParserName } from '../args.js'
import { gradeMath } from '../math/grade.js'
import { rewardFn } from '../reward.js'
import { truthText } from '../truth.js'
import { mathAnswer } from './math-reward.js'

export const accuracyReward = rewardFn({
  doc: 'Accuracy 0 or 1 of a math answer, a boxed one first.',
  needsTruth: true,
  args: z.strictObject({ answer_parser: answerParserName }),
  score(input, { answer_parser }) {
    const truth = truthText(input)
    const { response } = input
    const answer = answer_parser === null ? mathAnswer(response) : answerParsers.get(answer_parser).parse(response)
    return { accuracy: answer !== null && gradeMath(answer, truth) ? 1 : 0 }
  },
})
