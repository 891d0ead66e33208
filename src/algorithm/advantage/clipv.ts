import { z } from 'zod'
import { fraction, positive } from '../entry.js'
import { advantageFn, tokenInput } from './advantage.js'
import { flatTokens, meanAndDeviation, removeTokens } from './token-clip.js'

/** Deviations up to this come from rounding. */
const SAME = 1e-12

/**
 * Clip-V: GRPO, then tokens with A ≤ 0 whose D = necs − S exceeds μ·σ(D) leave the mask; S = p·(H + log p) with the
 * trainer's log-probs. If more than `max_frac` of all tokens would leave, only the highest D among those with A < 0 do:
 * max(⌊max_frac·tokens⌋, 1) of them. Where all D are equal (σ = 0) none stands out and none leaves. `necs` is a column
 * that an operator of your own has to provide.
 */
export const clipv = advantageFn({
  doc: 'grpo without the tokens of bad answers that change the entropy most (Clip-V)',
  where: 'trainer',
  needs: ['reward', 'logprobs', 'columns.entropy', 'columns.necs'],
  args: z.strictObject({
    epsilon: positive.default(1e-6).describe('Added to the deviation, so that nothing is divided by 0.'),
    mu: positive.default(8.5).describe('Deviations above which a token leaves the mask.'),
    max_frac: fraction.default(1e-4).describe('Share of all tokens that may leave the mask.'),
  }),
  compute(experiences, { epsilon, mu, max_frac }) {
    const tokens = flatTokens(experiences, epsilon, (e) => tokenInput(e, 'logprobs'))
    const { advantage, score, row, position, result } = tokens
    const necs = result.experiences.map((experience) => tokenInput(experience, 'columns.necs'))
    const d = score.map((s, k) => necs[row[k]][position[k]] - s)
    const { std } = meanAndDeviation(d)
    const clipped = Uint8Array.from(d, (value, k) => (std > SAME && advantage[k] <= 0 && value > mu * std ? 1 : 0))
    const count = clipped.reduce((a, b) => a + b, 0)
    if (count > max_frac * clipped.length) {
      const worst = [...clipped.keys()].filter((k) => clipped[k] !== 0 && advantage[k] < 0).sort((a, b) => d[b] - d[a])
      clipped.fill(0)
      for (const k of worst.slice(0, Math.max(Math.floor(max_frac * clipped.length), 1))) clipped[k] = 1
    }
    const { experiences: kept, metrics } = removeTokens(tokens, clipped)
    return { experiences: kept, metrics: { ...metrics, stdD: std } }
  },
})
