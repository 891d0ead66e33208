import { z } from 'zod'
import { aggMode, atLeast0 } from '../entry.js'
import { policyLoss, report } from './policy-loss.js'

/** OPMD: −A·logp / (1 + τ). No ratio, no clipping: old log-probs are not used. */
export const opmd = policyLoss({
  doc: 'policy gradient scaled by 1/(1 + tau) (OPMD)',
  args: z.strictObject({ tau: atLeast0.default(1).describe('Divides the loss by 1 + tau.'), loss_agg_mode: aggMode }),
  build: (g, args, { agg }) =>
    report(g, 'opmd_loss', agg(g.column('advantage').mul(g.logprob).neg()).div(1 + args.tau)),
})
