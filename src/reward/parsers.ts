import { Registry } from '../base/registry.js'
import { extractAnswer } from './extract.js'
import { gradeMath } from './math/grade.js'

/** Takes the answer out of a response; `null` when there is none. */
export type AnswerParser = (response: string) => string | null

/** Answer parsers by name, for `answer_parser` of the reward functions. Plugins add theirs. */
export const answerParsers = new Registry<AnswerParser>('answer parser', {
  boxed: (response) => extractAnswer(response, 'boxed'),
  answer_tag: (response) => extractAnswer(response, 'answer_tag'),
  last_answer_tag: (response) => extractAnswer(response, 'last_answer_tag'),
  gsm8k: (response) => extractAnswer(response, 'gsm8k'),
  final: (response) => extractAnswer(response, 'final'),
})

/** Whether an answer agrees with the truth. */
export type AnswerVerifier = (answer: string, truth: string) => boolean | Promise<boolean>

/** Verifiers by name, for `verifier` of `rlcr_reward`. Plugins add theirs. */
export const answerVerifiers = new Registry<AnswerVerifier>('answer verifier', {
  math: gradeMath,
  text: (answer, truth) => answer.trim().toLowerCase() === truth.trim().toLowerCase(),
})
