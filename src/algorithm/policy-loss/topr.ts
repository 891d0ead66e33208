import { z } from 'zod'
import { aggMode } from '../entry.js'
import { policyLoss, report } from './policy-loss.js'

/**
 * TOPR, tapered off-policy REINFORCE. ρ = e^(logp − old); α = clamp(ρ, 0, 1) where A ≤ threshold, else 1:
 *   L = −sg(α)·A·logp
 */
export const topr = policyLoss({
  doc: 'policy gradient whose negative part is tapered by the clipped ratio (TOPR)',
  args: z.strictObject({
    advantage_threshold: z.number().default(0).describe('Advantages up to this are tapered by the ratio.'),
    loss_agg_mode: aggMode,
  }),
  build(g, args, { agg }) {
    const a = g.column('advantage')
    const ratio = g.logprob.sub(g.column('old')).exp()
    const alpha = a.le(args.advantage_threshold).where(ratio.clamp(0, 1), 1).detach()
    g.metric('avg_alpha', alpha)
    g.metric('avg_ratio', ratio)
    return report(g, 'topr_loss', agg(alpha.mul(a).mul(g.logprob).neg()))
  },
})
