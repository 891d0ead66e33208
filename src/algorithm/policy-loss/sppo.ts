import { z } from 'zod'
import { aggMode, positive } from '../entry.js'
import { policyLoss, report } from './policy-loss.js'

/** Simplified PPO. d = logp − old, ρ = e^d:   L = −A·d where 1/(1 + ε) ≤ ρ ≤ 1 + ε, else 0. */
export const sppo = policyLoss({
  doc: 'log-ratio surrogate inside a trust interval, nothing outside (sPPO)',
  args: z.strictObject({
    epsilon: positive.default(0.3).describe('How far the ratio may leave 1 before a token gives no gradient.'),
    loss_agg_mode: aggMode,
  }),
  build(g, args, { agg }) {
    const d = g.logprob.sub(g.column('old'))
    const ratio = d.exp()
    const inside = ratio.ge(1 / (1 + args.epsilon)).and(ratio.le(1 + args.epsilon))
    g.metric('pg_clipfrac', inside.where(0, 1))
    return report(g, 'pg_loss', agg(inside.where(g.column('advantage').mul(d).neg(), 0)))
  },
})
