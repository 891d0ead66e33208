import { z } from 'zod'
import type { Expr, LossTrace } from '../../graph/index.js'
import { aggMode } from '../entry.js'
import { policyLoss, report } from './policy-loss.js'

/**
 * SFT weighted by φ(p) = p·(1 − p), p = e^logp: −logp·sg(φ). Tokens that are nearly certain or nearly impossible teach
 * little. With `cutoff_prob` < 1, logp is capped at ln(cutoff_prob) and gives no gradient above it.
 */
export const sftPhi = policyLoss({
  doc: 'negative log-likelihood weighted by p(1 − p)',
  args: z.strictObject({
    loss_agg_mode: aggMode,
    cutoff_prob: z
      .number()
      .gt(0)
      .max(1)
      .default(1)
      .describe('Tokens that are likelier than this give no gradient; 1: all do.'),
  }),
  build: (g, args, { agg }) => report(g, 'sft_phi_loss', agg(phiTokens(g, args.cutoff_prob))),
})

export function phiTokens(g: LossTrace, cutoff = 1): Expr {
  const p = g.logprob.exp().detach()
  const capped = cutoff < 1 ? g.logprob.min(Math.log(cutoff)) : g.logprob
  return capped.neg().mul(p.mul(p.neg().add(1)))
}
