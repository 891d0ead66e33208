import { z } from 'zod'
import { clipArgs, clipKnown, clipMissing, fillClip } from './clip.js'
import { policyLoss, report } from './policy-loss.js'

/**
 * GMPO (arXiv:2507.20673): the geometric mean of the ratios of a sequence, each clipped on the side that its advantage
 * pulls to. d = logp − old, s = sign(A); the range is one of log-ratios:
 *   c = s·min(s·d, s·clip(d, −low, high));   L = −mean_t(A)·exp(mean_t c), averaged over sequences
 * The paper's range is 0.4 on both sides. All tokens of a sequence should have one advantage.
 */
export const geoMean = policyLoss({
  doc: 'surrogate with the geometric mean of the clipped ratios of a sequence (GMPO)',
  args: z.strictObject(clipArgs).overwrite(fillClip).refine(clipKnown, clipMissing),
  build(g, args, { aggRows }) {
    const a = g.column('advantage')
    const d = g.logprob.sub(g.column('old'))
    const near = d.clamp(-args.clip_range_low!, args.clip_range_high!)
    const side = a.sign()
    const ratio = side
      .mul(side.mul(d).min(side.mul(near)))
      .rowMean()
      .exp()
    const moved = d.eq(near).not()
    g.metric('pg_clipfrac', moved.and(a.gt(0)).indicator())
    g.metric('pg_clipfrac_lower', moved.and(a.lt(0)).indicator())
    g.metric('ppo_kl', d.neg())
    return report(g, 'pg_loss', aggRows(a.rowMean().mul(ratio).neg()))
  },
})
