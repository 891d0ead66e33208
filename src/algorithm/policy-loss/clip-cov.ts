import { z } from 'zod'
import { aggMode, positive } from '../entry.js'
import { clipArgs, clipKnown, clipMissing, fillClip } from './clip.js'
import { covariance, tokensOf } from './covariance.js'
import { policyLoss, report } from './policy-loss.js'

/**
 * Clip-Cov (arXiv:2505.22617): PPO without dual clip, where some of the tokens whose covariance with the advantage lies
 * between two bounds give no loss; these would lower the entropy most. d = clamp(logp − old, ±20), ρ = e^d:
 *   L = max(−A·ρ, −A·clip(ρ, 1 − low, 1 + high)), 0 for clip_cov_ratio·N tokens drawn from those with
 *   clip_cov_lb < cov < clip_cov_ub that the range does not clip
 * The draw takes those with the greatest numbers of the column `noise`, so it does not depend on micro-batches.
 */
export const clipCov = policyLoss({
  doc: 'clipped surrogate that drops some tokens of high covariance (Clip-Cov)',
  args: z
    .strictObject({
      ...clipArgs,
      clip_cov_ratio: positive.max(1).default(0.0002).describe('Share of tokens that give no loss.'),
      clip_cov_lb: z.number().default(1).describe('Least covariance of tokens that may be dropped.'),
      clip_cov_ub: z.number().default(5).describe('Greatest covariance of tokens that may be dropped.'),
      loss_agg_mode: aggMode,
    })
    .overwrite(fillClip)
    .refine(clipKnown, clipMissing),
  build(g, args, { agg }) {
    const a = g.column('advantage')
    const d = g.logprob.sub(g.column('old')).clamp(-20, 20)
    const ratio = d.exp()
    const plain = a.neg().mul(ratio)
    const clipped = a.neg().mul(ratio.clamp(1 - args.clip_range_low!, 1 + args.clip_range_high!))
    const cov = covariance(g)
    const high = cov.gt(args.clip_cov_lb).and(cov.lt(args.clip_cov_ub)).and(clipped.gt(plain).not())
    const place = high.where(g.column('noise'), -1).rank()
    const dropped = high.and(place.lt(tokensOf(g, 'clip_cov_tokens', args.clip_cov_ratio)))
    g.metric('pg_clipfrac', dropped.indicator())
    g.metric('ppo_kl', d.neg())
    return report(g, 'pg_loss', agg(dropped.where(0, plain.max(clipped))))
  },
})
