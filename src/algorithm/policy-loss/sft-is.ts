import { z } from 'zod'
import { aggMode } from '../entry.js'
import { policyLoss, report } from './policy-loss.js'

/** SFT weighted by the model's own probability p = e^logp: −logp·sg(p). */
export const sftIs = policyLoss({
  doc: 'negative log-likelihood weighted by the probability of the token',
  args: z.strictObject({ loss_agg_mode: aggMode }),
  build: (g, _, { agg }) => report(g, 'sft_is_loss', agg(g.logprob.neg().mul(g.logprob.exp().detach()))),
})
