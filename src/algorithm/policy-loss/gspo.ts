import { z } from 'zod'
import { aggMode, open, positive } from '../entry.js'
import { policyLoss, report } from './policy-loss.js'

/**
 * GSPO: one importance ratio per sequence, s = mean_t(logp − old), applied token by token:
 *   ρ_t = exp(logp_t − sg(logp_t) + sg(s));   L = max(−A·ρ, −A·clip(ρ, 1 − low, 1 + high))
 */
export const gspo = policyLoss({
  doc: 'clipped surrogate with one importance ratio per sequence',
  loss_agg_mode: 'seq-mean-token-mean',
  args: z
    .strictObject({
      clip_range: open(positive).describe('The ratio of a sequence counts between 1 less this and 1 plus this.'),
      clip_range_low: open(positive).describe('Below 1; null: clip_range, else 0.0003.'),
      clip_range_high: open(positive).describe('Above 1; null: clip_range, else 0.0004.'),
      loss_agg_mode: aggMode,
    })
    .overwrite((args) => ({
      ...args,
      clip_range_low: args.clip_range_low ?? args.clip_range ?? 3e-4,
      clip_range_high: args.clip_range_high ?? args.clip_range ?? 4e-4,
    })),
  build(g, args, { agg }) {
    const a = g.column('advantage')
    const d = g.logprob.sub(g.column('old'))
    const drift = d.rowMean()
    const ratio = g.logprob.sub(g.logprob.detach()).add(drift.detach().toTokens()).exp()
    const plain = a.neg().mul(ratio)
    const clipped = a.neg().mul(ratio.clamp(1 - args.clip_range_low!, 1 + args.clip_range_high!))
    g.metric('pg_clipfrac', clipped.gt(plain).indicator())
    g.metric('ppo_kl', d.neg())
    g.metric('ppo_kl_seq', drift.neg())
    return report(g, 'pg_loss', agg(plain.max(clipped)))
  },
})
