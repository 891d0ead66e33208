import { z } from 'zod'
import { aggMode } from '../entry.js'
import { policyLoss, report } from './policy-loss.js'

/** GPG (arXiv:2504.02546), the plain policy gradient: −A·logp. */
export const gpg = policyLoss({
  doc: 'policy gradient without a ratio (GPG)',
  args: z.strictObject({ loss_agg_mode: aggMode }),
  build: (g, _, { agg }) => report(g, 'pg_loss', agg(g.column('advantage').mul(g.logprob).neg())),
})
