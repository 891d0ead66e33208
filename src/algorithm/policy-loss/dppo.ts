import { z } from 'zod'
import type { Expr } from '../../graph/index.js'
import { aggMode, positive } from '../entry.js'
import { clipArgs, clipKnown, clipMissing, fillClip } from './clip.js'
import { type PolicyLoss, policyLoss, report } from './policy-loss.js'

/** Whether a token may go on upward and downward. `q`, `p`: its probability before and now. */
type Trust = (
  token: { p: Expr; q: Expr; logprob: Expr; old: Expr },
  low: number,
  high: number,
) => { up: Expr; down: Expr }

/**
 * DPPO (arXiv:2602.04879): the trust region is a divergence of the policies at the token, taken as a choice between this
 * token and all others. d = clamp(logp − old, ±20), ρ = e^d, p = e^logp, q = e^old:
 *   L = −A·sg(min(ρ, c))·logp where the token may move the way A pulls, else 0
 */
function dppo(doc: string, trust: Trust): PolicyLoss {
  return policyLoss({
    doc,
    args: z
      .strictObject({
        ...clipArgs,
        clip_ratio_c: positive.default(20).describe('The ratio counts up to this.'),
        loss_agg_mode: aggMode,
      })
      .overwrite(fillClip)
      .refine(clipKnown, clipMissing),
    build(g, args, { agg }) {
      const [a, old] = [g.column('advantage'), g.column('old')]
      const d = g.logprob.sub(old).clamp(-20, 20)
      const ratio = d.exp()
      // Rounding may put a log-prob a little above 0.
      const token = { p: g.logprob.exp().min(1), q: old.exp().min(1), logprob: g.logprob, old }
      const { up, down } = trust(token, args.clip_range_low!, args.clip_range_high!)
      const inside = a.gt(0).and(up).or(a.le(0).and(down))
      g.metric('pg_clipfrac', inside.not().indicator())
      g.metric('pg_clipfrac_lower', inside.and(ratio.gt(args.clip_ratio_c)).indicator())
      g.metric('ppo_kl', d.neg())
      const weight = ratio.min(args.clip_ratio_c).detach()
      return report(g, 'pg_loss', agg(inside.where(a.mul(weight).mul(g.logprob).neg(), 0)))
    },
  })
}

/** Total variation: upward while p − q ≤ high, downward while p − q ≥ −low. */
export const dppoTv = dppo('policy gradient within a bound on the total variation (DPPO)', ({ p, q }, low, high) => {
  const change = p.sub(q)
  return { up: change.le(high), down: change.ge(-low) }
})

/** KL(q ‖ p) of the choice: within the bound, or on the way back. */
export const dppoKl = dppo('policy gradient within a bound on the KL divergence (DPPO)', (token, low, high) => {
  const { p, q, logprob, old } = token
  const rest = (x: Expr) => x.neg().add(1 + 1e-8)
  const kl = q.mul(old.sub(logprob)).add(
    q
      .neg()
      .add(1)
      .mul(rest(q).div(rest(p)).log()),
  )
  return { up: kl.le(high).or(p.le(q)), down: kl.le(low).or(p.ge(q)) }
})
