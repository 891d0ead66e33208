import { Registry } from '../../base/registry.js'
import { extractAnswer } from '../extract.js'
import { gradeMath } from '../math/grade.js'
import type { AnswerParser, AnswerVerifier } from './answer.js'

/** Answer parsers by name, for `answer_parser` of the reward functions. */
export const answerParsers = new Registry<AnswerParser>('answer parser', {
  boxed: {
    doc: 'the last \\boxed{}, or a list of the last ones that "and", "or" or commas join',
    parse: (response) => extractAnswer(response, 'boxed'),
  },
  answer_tag: { doc: 'the first answer tag', parse: (response) => extractAnswer(response, 'answer_tag') },
  last_answer_tag: { doc: 'the last answer tag', parse: (response) => extractAnswer(response, 'last_answer_tag') },
  gsm8k: { doc: 'what follows the last ####', parse: (response) => extractAnswer(response, 'gsm8k') },
  final: {
    doc: 'a box, ####, "the answer is …", a formula or the value at the end: the first that exists',
    parse: (response) => extractAnswer(response, 'final'),
  },
})

/** Verifiers by name, for `verifier` of `rlcr_reward`. */
export const answerVerifiers = new Registry<AnswerVerifier>('answer verifier', {
  math: { doc: 'equal as mathematics', verify: gradeMath },
  text: {
    doc: 'the same text, apart from case and the space around it',
    verify: (answer, truth) => answer.trim().toLowerCase() === truth.trim().toLowerCase(),
  },
})
