import { z } from 'zod'
import { messageOf, TrinityError } from '../../base/error.js'
import { answerParsers, answerVerifiers } from '../answer/registry.js'
import { answerParserName, verifierName } from '../args.js'
import { rewardFn } from '../reward.js'
import { lastConfidence, parseRlcr } from '../rlcr.js'
import { truthText } from '../truth.js'

const weight = z.number()
const WEIGHTS = {
  format: 0.5,
  accuracy: 0.5,
  brier: 0.5,
  mean_confidence: 1e-5,
  confidence_one_or_zero: 1e-5,
}

export const rlcrReward = rewardFn({
  doc: 'Accuracy and calibration: <think>, <answer>, <analysis> and <confidence>, with a Brier score of the confidence.',
  needsTruth: true,
  args: z.strictObject({
    weights: z
      .strictObject({
        format: weight,
        accuracy: weight,
        brier: weight,
        mean_confidence: weight,
        confidence_one_or_zero: weight,
      })
      .default(WEIGHTS)
      .describe('Weight of each part; all five are needed.'),
    answer_parser: answerParserName,
    verifier: verifierName,
  }),
  async score(input, { weights, answer_parser, verifier }) {
    const truth = truthText(input)
    const parsed = parseRlcr(input.response)
    const stated = lastConfidence(input.response)
    const parts = {
      format: 0,
      accuracy: 0,
      brier: 0,
      mean_confidence: weights.mean_confidence * (stated ?? 0),
      confidence_one_or_zero:
        stated !== undefined && (stated < 0.01 || stated > 0.99) ? weights.confidence_one_or_zero : 0,
    }
    if ('failure' in parsed) return parts
    const answer = answerParsers.get(answer_parser ?? 'final').parse(parsed.answer)
    const correct = answer !== null && (await verify(verifier ?? 'math', answer, truth)) ? 1 : 0
    parts.format = weights.format
    parts.accuracy = weights.accuracy * correct
    parts.brier = weights.brier * (1 - (correct - parsed.confidence) ** 2)
    return parts
  },
})

async function verify(name: string, answer: string, truth: string): Promise<boolean> {
  const verifier = answerVerifiers.get(name)
  try {
    return await verifier.verify(answer, truth)
  } catch (cause) {
    throw new TrinityError('reward/verifier-failed', `answer verifier '${name}' failed: ${messageOf(cause)}`, {
      path: name,
      hint: 'a verifier must return true or false; without an answer there is no reward',
      cause,
    })
  }
}
