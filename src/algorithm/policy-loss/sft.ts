import { z } from 'zod'
import { aggMode } from '../entry.js'
import { policyLoss, report } from './policy-loss.js'

/** Supervised fine-tuning: −logp. */
export const sft = policyLoss({
  doc: 'negative log-likelihood',
  args: z.strictObject({ loss_agg_mode: aggMode }),
  build: (g, _, { agg }) => report(g, 'sft_loss', agg(g.logprob.neg())),
})
