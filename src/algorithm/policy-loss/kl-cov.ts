import { z } from 'zod'
import { aggMode, atLeast0, positive } from '../entry.js'
import { covariance, tokensOf } from './covariance.js'
import { policyLoss, report } from './policy-loss.js'

/**
 * KL-Cov (arXiv:2505.22617): the plain surrogate, with a pull toward the old policy for the kl_cov_ratio·N tokens of the
 * greatest covariance with the advantage. d = clamp(logp − old, ±20), ρ = e^d:
 *   L = −A·ρ + ppo_kl_coef·|d| for those, −A·ρ for all others
 */
export const klCov = policyLoss({
  doc: 'surrogate with a KL term on the tokens of highest covariance (KL-Cov)',
  args: z.strictObject({
    kl_cov_ratio: positive.max(1).default(0.0002).describe('Share of tokens that are pulled toward the old policy.'),
    ppo_kl_coef: atLeast0.default(1).describe('Weight of that pull.'),
    loss_agg_mode: aggMode,
  }),
  build(g, args, { agg }) {
    const d = g.logprob.sub(g.column('old')).clamp(-20, 20)
    const plain = g.column('advantage').neg().mul(d.exp())
    const held = covariance(g)
      .rank()
      .lt(tokensOf(g, 'kl_cov_tokens', args.kl_cov_ratio))
    g.metric('kl_cov_frac', held.indicator())
    g.metric('ppo_kl', d.abs())
    return report(g, 'pg_loss', agg(plain.add(held.where(d.abs().mul(args.ppo_kl_coef), 0))))
  },
})
