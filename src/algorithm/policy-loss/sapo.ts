import { z } from 'zod'
import { aggMode, positive } from '../entry.js'
import { policyLoss, report } from './policy-loss.js'

/**
 * SAPO: a soft gate instead of a hard clip. ρ = e^(logp − old), τ = tau_pos where A > 0, else tau_neg:
 *   gate = (4/τ)·σ(τ·(ρ − 1));   L = −A·sg(gate)·logp
 */
export const sapo = policyLoss({
  doc: 'policy gradient weighted by a soft gate on the ratio (SAPO)',
  args: z.strictObject({ tau_pos: positive.default(1), tau_neg: positive.default(1.05), loss_agg_mode: aggMode }),
  build(g, args, { agg }) {
    const a = g.column('advantage')
    const d = g.logprob.sub(g.column('old'))
    const ratio = d.exp()
    const tau = a.gt(0).where(args.tau_pos, args.tau_neg)
    const gate = tau.mul(ratio.sub(1)).sigmoid().mul(4).div(tau).detach()
    g.metric('ppo_kl', d.neg())
    g.metric('avg_soft_gate', gate)
    g.metric('avg_ratio', ratio)
    g.metric('pos_adv_frac', a.gt(0).indicator())
    return report(g, 'sapo_loss', agg(a.mul(gate).mul(g.logprob).neg()))
  },
})
