import { z } from 'zod'
import { TrinityError } from '../base/error.js'
import { type Experience, uid } from '../experience/index.js'
import { open, positive } from './entry.js'

/** `algorithm.rollout_correction`. */
export const rolloutCorrectionArgs = z
  .strictObject({
    /** The sampler's log-probs stand for the old ones, so there is no difference to correct. */
    bypass_mode: z.boolean().default(false),
    rollout_is: open(z.enum(['token', 'sequence'])),
    rollout_is_threshold: positive.default(2),
    rollout_is_batch_normalize: z.boolean().default(false),
    rollout_rs: open(z.enum(['token', 'sequence', 'geometric'])),
    rollout_rs_threshold: open(positive),
    rollout_rs_threshold_lower: open(positive),
    rollout_token_veto_threshold: open(positive),
  })
  .refine((args) => !args.bypass_mode || (args.rollout_is === null && args.rollout_rs === null), {
    path: ['bypass_mode'],
    message: 'rollout_is and rollout_rs compare sampler and trainer: they need bypass_mode: false',
  })
export type RolloutCorrection = z.output<typeof rolloutCorrectionArgs>

const MAX_LOG_RATIO = 20

/**
 * Makes up for the difference between the sampler's log-probs and the trainer's (other kernels, other precision).
 * d_t = old − rollout at each token, of a sequence: Σ d, or its mean (`geometric`).
 * - `rollout_is`: advantages are multiplied by min(e^d, threshold), per token or per sequence (`batch_normalize`: divided
 *   by their mean over tokens or sequences; the metrics are of e^d before the cap); all built-in losses but
 *   `rec` with weight `advantage` are proportional to the size of the advantage, so this weights the loss.
 * - `rollout_rs`: what has e^d outside [lower, upper] leaves the mask; upper = `rollout_rs_threshold`, else the
 *   threshold above, lower = 1/upper unless given.
 * - `rollout_token_veto_threshold`: one token with e^d below it takes its whole sequence out of the mask.
 */
export function correctRollout(
  experiences: readonly Experience[],
  args: RolloutCorrection,
): { experiences: Experience[]; metrics: Record<string, number> } {
  const upper = args.rollout_rs_threshold ?? args.rollout_is_threshold
  const lower = args.rollout_rs_threshold_lower ?? 1 / upper
  const rows = experiences.map(logRatios)
  const ratios = rows.map((row) => importance(row, args))
  const cap = args.rollout_is === null ? 1 : args.rollout_is_threshold
  const weights = ratios.map((row) => row.map((ratio) => Math.min(ratio, cap)))
  let [active, sum, top, drift, removed] = [0, 0, 0, 0, 0]
  for (const [r, row] of rows.entries()) {
    for (let i = 0; i < row.d.length; i++) {
      if (row.mask[i] === 0) continue
      active++
      drift -= row.d[i]
      sum += ratios[r][i]
      top = Math.max(top, ratios[r][i])
    }
  }
  const scale = args.rollout_is_batch_normalize ? 1 / meanWeight(rows, weights, args.rollout_is) : 1
  const result = experiences.map((experience, r) => {
    const { mask, kept } = reject(rows[r], args, lower, upper)
    removed += rows[r].active - kept
    const advantages = experience.advantages?.map((a, i) => a * weights[r][i] * scale)
    return { ...experience, actionMask: mask, ...(advantages ? { advantages } : {}) }
  })
  const mean = (x: number) => (active > 0 ? x / active : 0)
  return {
    experiences: result,
    metrics: {
      'rollout_corr/kl': mean(drift),
      'rollout_corr/rollout_is_mean': mean(sum),
      'rollout_corr/rollout_is_max': top,
      'rollout_corr/rollout_rs_masked_fraction': mean(removed),
    },
  }
}

interface LogRatios {
  readonly mask: Uint8Array
  readonly active: number
  /** old − rollout, 0 where masked. */
  readonly d: Float64Array
  readonly total: number
}

function logRatios(experience: Experience): LogRatios {
  const { oldLogprobs, logprobs, actionMask: mask } = experience
  if (!oldLogprobs || !logprobs) {
    const missing = logprobs ? 'log-probs of the trainer' : 'log-probs of the sampler'
    throw new TrinityError('algorithm/missing-input', `experience ${uid(experience.eid)} has no ${missing}`, {
      path: 'algorithm.rollout_correction',
      hint: 'set algorithm.bypass_old_logprobs: false, and record log-probs at rollout',
    })
  }
  const d = new Float64Array(mask.length)
  let [active, total] = [0, 0]
  for (let i = 0; i < d.length; i++) {
    if (mask[i] === 0) continue
    d[i] = bounded(oldLogprobs[i] - logprobs[i])
    total += d[i]
    active++
  }
  return { mask, active, d, total }
}

const bounded = (x: number) => Math.min(MAX_LOG_RATIO, Math.max(-MAX_LOG_RATIO, x))

/** e^d before the cap, for every token. */
function importance({ d, total }: LogRatios, { rollout_is }: RolloutCorrection): Float64Array {
  if (rollout_is === null) return new Float64Array(d.length).fill(1)
  const ratio = (x: number) => Math.exp(bounded(x))
  return rollout_is === 'token' ? d.map(ratio) : new Float64Array(d.length).fill(ratio(total))
}

/** Over what the weights belong to: tokens, or sequences whatever their length. 1 where there is none. */
function meanWeight(
  rows: readonly LogRatios[],
  weights: readonly Float64Array[],
  level: RolloutCorrection['rollout_is'],
): number {
  let [sum, count] = [0, 0]
  for (const [r, { mask, active }] of rows.entries()) {
    if (active === 0) continue
    const share = level === 'sequence' ? 1 / active : 1
    count += share * active
    for (let i = 0; i < mask.length; i++) if (mask[i] !== 0) sum += share * weights[r][i]
  }
  return sum > 0 ? sum / count : 1
}

function reject(row: LogRatios, args: RolloutCorrection, lower: number, upper: number) {
  const outside = (x: number) => Math.exp(bounded(x)) < lower || Math.exp(bounded(x)) > upper
  const veto = args.rollout_token_veto_threshold
  const all =
    (veto !== null && row.d.some((x, i) => row.mask[i] !== 0 && Math.exp(x) < veto)) ||
    (args.rollout_rs === 'sequence' && outside(row.total)) ||
    (args.rollout_rs === 'geometric' && row.active > 0 && outside(row.total / row.active))
  const mask = row.mask.map((m, i) => (all || (args.rollout_rs === 'token' && outside(row.d[i])) ? 0 : m))
  return { mask, kept: mask.reduce((sum, m) => sum + (m === 0 ? 0 : 1), 0) }
}
