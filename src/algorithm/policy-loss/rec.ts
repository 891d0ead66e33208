import { z } from 'zod'
import { aggMode, atLeast0, positive } from '../entry.js'
import { policyLoss, report } from './policy-loss.js'

/**
 * REC family. ρ = sg(e^(logp − old)), s = sg(exp(mean_t(logp − old))) per sequence:
 *   L = −A'·logp·1[in range] + regularizer
 * In range (`clip_mode`): `none` always; `two-side` 1 − lo ≤ ρ ≤ 1 + hi; `one-side` (A ≥ 0 and ρ ≤ 1 + hi) or
 * (A ≤ 0 and ρ ≥ 1 − lo); `gspo-one-side` the same with s; `ring` two-side, or (A ≥ 0 and ρ ≤ 1 − lo'), or
 * (A ≤ 0 and ρ ≥ 1 + hi').
 * A' (`weight`): `none` A; `importance_sampling` A·ρ; `gspo_importance_sampling` A·s; `advantage` A·e^(A/temp).
 * Regularizer: `k2` coef·(logp − old)²; `forward-kl` −coef·logp.
 */
export const rec = policyLoss({
  doc: 'REINFORCE with a choice of clipping, weighting and regularization (REC)',
  loss_agg_mode: ({ clip_mode }) => (clip_mode === 'gspo-one-side' ? 'seq-mean-token-mean' : undefined),
  args: z.strictObject({
    epsilon_low: z.number().gt(0).max(1).default(0.2).describe('The ratio may fall by so much below 1.'),
    epsilon_high: positive.default(0.2).describe('The ratio may rise by so much above 1.'),
    epsilon_low_prime: z
      .number()
      .gt(0)
      .max(1)
      .default(0.6)
      .describe('ring: below 1 by more than this it counts again, where the advantage is positive.'),
    epsilon_high_prime: positive
      .default(2)
      .describe('ring: above 1 by more than this it counts again, where the advantage is negative.'),
    clip_mode: z
      .enum(['none', 'one-side', 'two-side', 'ring', 'gspo-one-side'])
      .default('none')
      .describe('Which ratios give a gradient.'),
    weight: z
      .enum(['none', 'importance_sampling', 'gspo_importance_sampling', 'advantage'])
      .default('none')
      .describe('What the advantage is multiplied by.'),
    regularizer: z
      .enum(['none', 'k2', 'forward-kl'])
      .default('none')
      .describe('What holds the policy near the one that sampled.'),
    regularizer_coef: atLeast0.default(0).describe('Weight of the regularizer.'),
    temp: positive.default(1).describe('weight: advantage: the advantage is divided by it in the exponent.'),
    loss_agg_mode: aggMode,
  }),
  build(g, args, { agg }) {
    const a = g.column('advantage')
    const d = g.logprob.sub(g.column('old'))
    const ratio = d.exp().detach()
    const sequence = d.rowMean().exp().detach().toTokens()
    const [up, down] = [1 + args.epsilon_high, 1 - args.epsilon_low]
    const oneSide = (r: typeof ratio) =>
      r
        .le(up)
        .and(a.ge(0))
        .or(r.ge(down).and(a.le(0)))
    const twoSide = ratio.ge(down).and(ratio.le(up))
    const inRange = {
      none: () => undefined,
      'two-side': () => twoSide,
      'one-side': () => oneSide(ratio),
      'gspo-one-side': () => oneSide(sequence),
      ring: () =>
        twoSide
          .or(a.ge(0).and(ratio.le(1 - args.epsilon_low_prime)))
          .or(a.le(0).and(ratio.ge(1 + args.epsilon_high_prime))),
    }[args.clip_mode]()
    const weight = {
      none: () => g.constant(1),
      importance_sampling: () => ratio,
      gspo_importance_sampling: () => sequence,
      advantage: () => a.div(args.temp).exp(),
    }[args.weight]()
    const free = a.mul(weight).mul(g.logprob).neg()
    const policy = inRange ? inRange.where(free, 0) : free
    const penalty = { none: () => g.constant(0), k2: () => d.square(), 'forward-kl': () => g.logprob.neg() }[
      args.regularizer
    ]()
    const loss = policy.add(penalty.mul(args.regularizer_coef))
    g.metric('pg_clipfrac', inRange ? inRange.where(0, 1) : 0)
    return report(g, 'pg_loss', agg(loss))
  },
})
