import { z } from 'zod'
import { aggMode } from '../entry.js'
import { clipArgs, clipKnown, clipMissing, clippedSurrogate, fillClip } from './clip.js'
import { policyLoss, report } from './policy-loss.js'

/**
 * PPO with dual clip. d = clamp(logp − old, ±20), ρ = e^d:
 *   L = max(−A·ρ, −A·clip(ρ, 1 − low, 1 + high));   where A < 0: min(L, −A·c)
 *
 * `fallback_to_policy_gradient`: old = sg(logp), so that ρ = 1 and the gradient is the plain policy gradient.
 * `enable_sequence_masking`: tokens with A < 0 in sequences whose mean(−d) > delta give no loss; the divisor stays.
 */
export const ppo = policyLoss({
  doc: 'clipped surrogate with dual clip (PPO, GRPO, DAPO)',
  args: z
    .strictObject({
      ...clipArgs,
      clip_ratio_c: z
        .number()
        .gt(1, 'clip_ratio_c bounds the loss of negative advantages and must be above 1')
        .default(3)
        .describe('Bounds the loss of negative advantages at so many times the advantage.'),
      loss_agg_mode: aggMode,
      enable_sequence_masking: z
        .boolean()
        .default(false)
        .describe('Bad answers of sequences that have drifted give no loss.'),
      delta_sequence_masking: z.number().default(0.1).describe('Mean drift of a sequence from which it is masked.'),
      fallback_to_policy_gradient: z
        .boolean()
        .default(false)
        .describe('The ratio is always 1: the plain policy gradient.'),
    })
    .overwrite(fillClip)
    .refine(clipKnown, clipMissing),
  build(g, args, { agg }) {
    const old = args.fallback_to_policy_gradient ? g.logprob.detach() : g.column('old')
    const { loss, logRatio, metrics } = clippedSurrogate(g, args, old)
    for (const [name, value] of Object.entries(metrics)) g.metric(name, value)
    if (!args.enable_sequence_masking) return report(g, 'pg_loss', agg(loss))
    const drift = logRatio.neg().rowMean()
    const masked = drift.gt(args.delta_sequence_masking).toTokens().and(g.column('advantage').lt(0))
    g.metric('seq_mask/masked_tokens', masked.indicator())
    g.metric('seq_mask/mean_sequence_kl', drift)
    return report(g, 'pg_loss', agg(masked.where(0, loss)))
  },
})
