import { z } from 'zod'
import { aggMode, positive } from '../entry.js'
import { policyLoss, report } from './policy-loss.js'

/**
 * M2PO (arXiv:2510.01161): no clipping, but the second moment of the log-ratios is bounded. d = clamp(logp − old, ±20), ρ = e^d.
 * Of the tokens that move away from the old policy (A > 0 and ρ > 1, or A < 0 and ρ < 1) those with the greatest d² give no
 * loss, as many as it takes until the mean of d² over the others is at most m2_threshold:
 *   L = −A·ρ, 0 for these
 * `m2_tokens: all` counts and drops tokens whatever way they move, as AReaL does.
 */
export const m2po = policyLoss({
  doc: 'surrogate without the tokens that raise the second moment of the log-ratios over a bound (M2PO)',
  args: z.strictObject({
    m2_threshold: positive.default(0.04).describe('Greatest mean of the squared log-ratios.'),
    m2_tokens: z
      .enum(['away', 'all'])
      .default('away')
      .describe('away: tokens that move away from the old policy are counted and dropped; all: every token.'),
    loss_agg_mode: aggMode,
  }),
  build(g, args, { agg }) {
    const a = g.column('advantage')
    const d = g.logprob.sub(g.column('old')).clamp(-20, 20)
    const away = a
      .gt(0)
      .and(d.gt(0))
      .or(a.lt(0).and(d.lt(0)))
    const counted = args.m2_tokens === 'all' ? g.count().ge(0).toTokens() : away
    const moment = counted.where(d.square(), 0).detach()
    // The mean over a token and all with lesser moments grows with its moment: it stays as long as that keeps the bound.
    const mean = moment.cumSum().div(counted.indicator().cumSum(moment).max(1))
    const dropped = counted.and(mean.gt(args.m2_threshold))
    g.metric('pg_clipfrac', dropped.indicator())
    g.metric('ppo_kl', d.neg())
    g.metric('m2', d.square(), { weight: counted.indicator() })
    return report(g, 'pg_loss', agg(dropped.where(0, a.neg().mul(d.exp()))))
  },
})
