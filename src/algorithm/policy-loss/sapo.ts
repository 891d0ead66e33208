import { z } from 'zod'
import { aggMode, positive } from '../entry.js'
import { policyLoss, report } from './policy-loss.js'

/**
 * SAPO (arXiv:2511.20347): a soft gate instead of a hard clip. d = clamp(logp − old, ±20), ρ = e^d, τ = tau_pos where
 * A > 0, else tau_neg:
 *   gate = (4/τ)·σ(τ·(ρ − 1));   L = −A·gate
 * The gradient by logp is −A·4σ(1 − σ)·ρ: it fades as ρ leaves 1, which is the trust region.
 */
export const sapo = policyLoss({
  doc: 'surrogate behind a soft gate on the ratio (SAPO)',
  args: z.strictObject({
    tau_pos: positive.default(1).describe('Sharpness of the gate where the advantage is positive.'),
    tau_neg: positive.default(1.05).describe('Sharpness of the gate where it is negative.'),
    loss_agg_mode: aggMode,
  }),
  build(g, args, { agg }) {
    const a = g.column('advantage')
    const d = g.logprob.sub(g.column('old')).clamp(-20, 20)
    const ratio = d.exp()
    const tau = a.gt(0).where(args.tau_pos, args.tau_neg)
    const gate = tau.mul(ratio.sub(1)).sigmoid().mul(4).div(tau)
    g.metric('ppo_kl', d.neg())
    g.metric('avg_soft_gate', gate)
    g.metric('avg_ratio', ratio)
    g.metric('pos_adv_frac', a.gt(0).indicator())
    return report(g, 'sapo_loss', agg(a.mul(gate).neg()))
  },
})
