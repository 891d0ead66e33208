import { z } from 'zod'
import { member } from '../aggregate.js'
import { aggMode, positive } from '../entry.js'
import { clipArgs, clipKnown, clipMissing, fillClip } from './clip.js'
import { policyLoss, report } from './policy-loss.js'

/**
 * Critique-GRPO. ρ = e^(logp − old), p = e^logp:
 *   rows of the policy itself:  L = max(−A·ρ, −A·clip(ρ, 1 − low, 1 + high))
 *   off-policy rows (row column `off_policy` = 1):  L = −A·p/(p + γ), which bounds the gradient of rare tokens
 */
export const critiqueGrpo = policyLoss({
  doc: 'PPO on own rollouts, shaped probability on rollouts refined by a critique',
  args: z
    .strictObject({
      ...clipArgs,
      gamma: positive.default(0.1).describe('Discount of later rewards; 1: none.'),
      loss_agg_mode: aggMode,
    })
    .overwrite(fillClip)
    .refine(clipKnown, clipMissing),
  build(g, args, { agg }) {
    const a = g.column('advantage')
    const off = member(g, { name: 'off', column: 'off_policy', holds: true })
    const d = g.logprob.sub(g.column('old'))
    const ratio = d.exp()
    const plain = a.neg().mul(ratio)
    const clipped = a.neg().mul(ratio.clamp(1 - args.clip_range_low!, 1 + args.clip_range_high!))
    const own = plain.max(clipped)
    const p = g.logprob.exp()
    const shaped = p.div(p.add(args.gamma))
    const other = a.neg().mul(shaped)
    const [isOff, isOwn] = [off.indicator(), off.where(0, 1)]
    g.metric('pg_clipfrac', clipped.gt(plain).indicator(), { weight: isOwn })
    g.metric('ppo_kl', d.neg())
    g.metric('on_pg_loss', own, { weight: isOwn })
    g.metric('off_pg_loss', other, { weight: isOff })
    g.metric('off_ratio_mean', shaped, { weight: isOff })
    const offRow = g.rowColumn('off_policy').eq(1)
    g.metric('on_policy_count', offRow.where(0, 1), { reduce: 'sum' })
    g.metric('off_policy_count', offRow.indicator(), { reduce: 'sum' })
    g.metric('on_policy_ratio', offRow.where(0, 1))
    g.metric('off_policy_ratio', offRow.indicator())
    return report(g, 'pg_loss', agg(off.where(other, own)))
  },
})
