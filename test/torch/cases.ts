import { buildLoss, klFns, policyLossFns } from '../../src/algorithm/index.js'
import { AGG_MODES } from '../../src/config/index.js'
import { evaluateLoss } from '../../src/graph/index.js'
import { randomBatch } from '../algorithm/batch.js'

const ARGS: Record<string, Record<string, unknown>[]> = {
  ppo: [{}, { clip_range_high: 0.5, enable_sequence_masking: true }, { fallback_to_policy_gradient: true }],
  cispo: [{}, { enable_mask_clip: true, mask_clip_range_low: 0.1, mask_clip_range_high: 0.1 }],
  sft_phi: [{}, { cutoff_prob: 0.5 }],
  mix_chord: [{ mu_warmup_steps: 5, mu_decay_steps: 10, mu_peak: 0.6 }, { enable_phi_function: false }],
  dpo: [{ label_smoothing: 0.1 }],
  geo_mean: [{}, { clip_range: 0.4 }],
  dppo_tv: [{ clip_range: 0.05 }, { clip_range_low: 0.1, clip_ratio_c: 1.2 }],
  dppo_kl: [{ clip_range: 0.01 }, { clip_range_high: 0.05, clip_ratio_c: 1.2 }],
  clip_cov: [{ clip_cov_ratio: 0.2, clip_cov_lb: -0.1, clip_cov_ub: 0.5 }, { clip_cov_lb: 0.05 }],
  kl_cov: [{ kl_cov_ratio: 0.3 }, { ppo_kl_coef: 2.5 }],
  m2po: [{}, { m2_tokens: 'all', m2_threshold: 0.3 }],
  r3l: [{}, { sft_coef: 0.3 }],
  rec: [
    {},
    { clip_mode: 'two-side', weight: 'importance_sampling' },
    { clip_mode: 'one-side', weight: 'advantage' },
    { clip_mode: 'ring', regularizer: 'k2', regularizer_coef: 0.3 },
    {
      clip_mode: 'gspo-one-side',
      weight: 'gspo_importance_sampling',
      regularizer: 'forward-kl',
      regularizer_coef: 0.1,
    },
  ],
}
/** These are one number per row or pair, and take no aggregation. */
const PER_ROW = new Set(['dpo', 'geo_mean'])
const kls = klFns.names()
const cases = policyLossFns.names().flatMap((policy, p) =>
  (ARGS[policy] ?? [{}]).flatMap((args, a) =>
    AGG_MODES.map((mode, m) => ({
      policy,
      args,
      mode,
      kl: kls[(p + a + m) % kls.length],
      kl_coef: 0.2,
      entropy_coef: 0.1,
    })),
  ),
)

/** Every loss in every aggregation mode with some KL and entropy, on a batch of its own, as we evaluate it. */
export function evaluatedCases() {
  return cases.map((formula, k) => {
    const batch = randomBatch(100 + k)
    const loss = buildLoss({
      policy_loss_fn: formula.policy,
      policy_loss_fn_args: { ...formula.args, ...(PER_ROW.has(formula.policy) ? {} : { loss_agg_mode: formula.mode }) },
      loss_agg_mode: formula.mode,
      kl_loss_fn: formula.kl,
      kl_loss_fn_args: { kl_coef: formula.kl_coef },
      entropy_loss_fn: 'default',
      entropy_loss_fn_args: { entropy_coef: formula.entropy_coef },
    })
    const norms = loss.norms(batch.rows)
    return { formula, batch, loss, norms, got: evaluateLoss(loss, batch.rows, norms, batch.scores) }
  })
}

/** A gradient as one number that hardly any mistake leaves alone. */
export function fingerprint(grad: ArrayLike<number>): number {
  return Array.from(grad).reduce((sum, g, i) => sum + g * Math.sin(i + 1), 0)
}
