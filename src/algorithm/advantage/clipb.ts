import { z } from 'zod'
import { positive } from '../entry.js'
import { advantageFn, tokenInput } from './advantage.js'
import { flatTokens, meanAndDeviation, removeTokens } from './token-clip.js'

/**
 * Clip-B: GRPO, then tokens with A < 0 that are outliers of S = p·(H + log p) leave the mask:
 *   S − mean(S) < −μ·σ(S), over the active tokens of the batch (σ < 1e-12: none do)
 * p is the sampler's probability, H the entropy that the trainer computed.
 */
export const clipb = advantageFn({
  doc: 'grpo without the unlikely tokens of bad answers that would collapse the entropy (Clip-B)',
  where: 'trainer',
  needs: ['reward', 'logprobs', 'columns.entropy'],
  args: z.strictObject({
    epsilon: positive.default(1e-6).describe('Added to the deviation, so that nothing is divided by 0.'),
    mu: positive.default(2.5).describe('Deviations below the mean from which a token leaves the mask.'),
  }),
  compute(experiences, { epsilon, mu }) {
    const tokens = flatTokens(experiences, epsilon, (e) => e.logprobs ?? tokenInput(e, 'logprobs'))
    const { mean, std } = meanAndDeviation(tokens.score)
    const clipped = new Uint8Array(tokens.score.length)
    if (std >= 1e-12) {
      for (let k = 0; k < clipped.length; k++) {
        if (tokens.advantage[k] < 0 && tokens.score[k] - mean < -mu * std) clipped[k] = 1
      }
    }
    const { experiences: kept, metrics } = removeTokens(tokens, clipped)
    return { experiences: kept, metrics: { ...metrics, ES: mean, varS: std ** 2 } }
  },
})
