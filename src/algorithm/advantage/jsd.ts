import { z } from 'zod'
import { fraction, open, positive } from '../entry.js'
import { advantageFn, assign, tokenInput } from './advantage.js'
import { meanOf, sampleStd } from './statistics.js'

/** Bounds e^(teacher − student), as everywhere a ratio of probabilities is formed. */
const MAX_LOG_RATIO = 20

/**
 * Distillation toward the generalized Jensen–Shannon divergence, on tokens the student drew. With u = p_t/p_s,
 * M = β·p_t + (1 − β)·p_s and D = E_s[f(u)], the policy gradient of D has the weight f(u) − u·f'(u), so
 *   0 < β < 1:  A = kl_coef·(1 − β)·(log M − s)      D = β·KL(t ‖ M) + (1 − β)·KL(s ‖ M)
 *   β = 0:      A = kl_coef·(t − s)                  D = KL(s ‖ t)
 *   β = 1:      A = kl_coef·(u − 1)                  D = KL(t ‖ s)
 * All are positive where the teacher finds the token likelier than the student, and negative where it does not.
 * t and s are log-probs divided by `temperature`. `jsd/*` is the estimate f(u) ≥ 0 of D, summed over each sequence, as the
 * advantages are.
 */
export const jsd = advantageFn({
  doc: 'Jensen–Shannon distillation from a teacher, per token',
  where: 'trainer',
  needs: ['logprobs', 'teacherLogprobs'],
  args: z.strictObject({
    lambda_coef: fraction
      .default(0.5)
      .describe("β, the teacher's share of the mixture: 0 is KL(student ‖ teacher), 1 is KL(teacher ‖ student)."),
    kl_coef: z.number().default(1).describe('Factor of the advantages.'),
    temperature: positive.default(1).describe('Both log-probs are divided by it.'),
    chunk_size: open(z.int().positive()).describe('Of older configurations; no effect.'),
  }),
  ignored: ['chunk_size'],
  compute(experiences, { lambda_coef: beta, kl_coef, temperature }) {
    const divergences: number[] = []
    const sums: number[] = []
    const result = experiences.map((experience) => {
      const { actionMask: mask } = experience
      const student = tokenInput(experience, 'logprobs')
      const teacher = tokenInput(experience, 'teacherLogprobs')
      const advantages = new Float32Array(mask.length)
      let [divergence, sum] = [0, 0]
      for (let i = 0; i < mask.length; i++) {
        if (mask[i] === 0) continue
        const { weight, estimate } = jsdToken((teacher[i] - student[i]) / temperature, beta)
        advantages[i] = kl_coef * weight
        sum += kl_coef * weight
        divergence += estimate
      }
      divergences.push(divergence)
      sums.push(sum)
      return assign(experience, advantages)
    })
    const metrics = {
      'jsd/mean': meanOf(divergences),
      'jsd/std': sampleStd(divergences),
      'advantages/mean': meanOf(sums),
    }
    return { experiences: result, metrics }
  },
})

/** d = log u. Gives the policy-gradient weight −(f − u·f') and f(u), for f as above; KL(s ‖ t) uses u − 1 − log u. */
export function jsdToken(d: number, beta: number): { weight: number; estimate: number } {
  const log = Math.min(MAX_LOG_RATIO, Math.max(-MAX_LOG_RATIO, d))
  const above = Math.expm1(log)
  const u = above + 1
  if (beta === 0) return { weight: d, estimate: above - log }
  if (beta === 1) return { weight: above, estimate: u * log - above }
  // M/p_s = 1 + β·(u − 1), written so that small differences keep their digits.
  const excess = beta * above
  const logM = Math.log1p(excess)
  return { weight: (1 - beta) * logM, estimate: beta * u * log - (1 + excess) * logM }
}
