import { z } from 'zod'
import { aggMode, atLeast0 } from '../entry.js'
import { policyLoss, report } from './policy-loss.js'

/**
 * CISPO: the clipped importance weight is a constant, so no token loses its gradient. ρ = e^(logp − old):
 *   L = −A·sg(clip(ρ, 1 − low, 1 + high))·sg(M)·logp
 * M = 1, but with `enable_mask_clip` 0 where (ρ > 1 + mask_high and A > 0) or (ρ < 1 − mask_low and A < 0).
 */
export const cispo = policyLoss({
  doc: 'policy gradient weighted by the clipped, detached ratio (CISPO)',
  args: z.strictObject({
    clip_range_low: atLeast0.default(1).describe('The weight is at least 1 less this.'),
    clip_range_high: atLeast0.default(0.28).describe('The weight is at most 1 plus this.'),
    enable_mask_clip: z.boolean().default(false).describe("Tokens beyond the mask's range give no gradient."),
    mask_clip_range_low: atLeast0.default(1).describe('Range of the mask below 1.'),
    mask_clip_range_high: atLeast0.default(0.28).describe('Range of the mask above 1.'),
    loss_agg_mode: aggMode,
  }),
  build(g, args, { agg }) {
    const a = g.column('advantage')
    const d = g.logprob.sub(g.column('old'))
    const ratio = d.exp()
    const weight = ratio.clamp(1 - args.clip_range_low, 1 + args.clip_range_high).detach()
    const tooHigh = ratio.gt(1 + args.mask_clip_range_high).and(a.gt(0))
    const tooLow = ratio.lt(1 - args.mask_clip_range_low).and(a.lt(0))
    const keep = args.enable_mask_clip ? tooHigh.or(tooLow).where(0, 1) : g.constant(1)
    g.metric('ppo_kl', d.neg())
    g.metric('unmasked_frac', keep)
    return report(g, 'cispo_loss', agg(a.mul(weight).mul(keep).mul(g.logprob).neg()))
  },
})
