import { z } from 'zod'
import { aggMode } from '../entry.js'
import { policyLoss, report } from './policy-loss.js'

/** Importance-sampled policy gradient, unclipped: −A·exp(clamp(logp − old, ±20)). */
export const importanceSampling = policyLoss({
  doc: 'policy gradient with the plain importance ratio',
  args: z.strictObject({ loss_agg_mode: aggMode }),
  build(g, _, { agg }) {
    const d = g.logprob.sub(g.column('old')).clamp(-20, 20)
    const ratio = d.exp()
    g.metric('ratio/mean', ratio)
    g.metric('approx_kl', d.neg())
    return report(g, 'pg_loss', agg(g.column('advantage').mul(ratio).neg()))
  },
})
