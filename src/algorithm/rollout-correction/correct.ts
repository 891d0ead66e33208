import type { Experience } from '../../experience/index.js'
import { limitsOf, type RolloutCorrection } from './args.js'
import { logRatios } from './log-ratios.js'
import { reject } from './rejection.js'
import { capped, importance, meanWeight } from './weights.js'

/**
 * Makes up for the difference between the sampler's log-probs and the trainer's (other kernels, other precision).
 * d_t = old − rollout at each token.
 * - `rollout_is`: advantages are multiplied by e^d, of the token or of the sequence, cut at the threshold (with two
 *   limits: 0 outside of them, IcePop; `batch_normalize`: divided by their mean over tokens or sequences; the metrics are
 *   of e^d before the cap). All built-in losses but `rec` with weight `advantage` are proportional to the size of the
 *   advantage, so this weights the loss.
 * - `rollout_rs`: what a criterion finds outside its limits leaves the mask.
 * - `rollout_token_veto_threshold`: one token with e^d below it takes its whole sequence out of the mask.
 */
export function correctRollout(
  experiences: readonly Experience[],
  args: RolloutCorrection,
): { experiences: Experience[]; metrics: Record<string, number> } {
  const limits = limitsOf(args)
  const rows = experiences.map(logRatios)
  const ratios = rows.map((row) => importance(row, args))
  const cap = args.rollout_is === null ? (ratio: number) => ratio : capped(limits.cap)
  const weights = ratios.map((row) => row.map(cap))
  let [active, sum, top, drift, away] = [0, 0, 0, 0, 0]
  for (const [r, row] of rows.entries()) {
    for (let i = 0; i < row.d.length; i++) {
      if (row.mask[i] === 0) continue
      active++
      drift -= row.d[i]
      sum += ratios[r][i]
      top = Math.max(top, ratios[r][i])
      if (weights[r][i] === 0) away++
    }
  }
  const scale = args.rollout_is_batch_normalize ? 1 / meanWeight(rows, weights, args.rollout_is) : 1
  const failed = limits.criteria.map(() => 0)
  let [removed, touched] = [0, 0]
  const result = experiences.map((experience, r) => {
    const rejected = reject(rows[r], limits.criteria, args.rollout_token_veto_threshold)
    removed += rows[r].active - rejected.kept
    if (rejected.kept < rows[r].active) touched++
    for (const [i, count] of rejected.failed.entries()) failed[i] += count
    const advantages = experience.advantages?.map((a, i) => a * weights[r][i] * scale)
    return { ...experience, actionMask: rejected.mask, ...(advantages ? { advantages } : {}) }
  })
  const mean = (x: number) => (active > 0 ? x / active : 0)
  const own = limits.criteria.map(({ name }, i) => [`rollout_rs_${name}_masked_fraction`, mean(failed[i])] as const)
  const metrics = {
    kl: mean(drift),
    rollout_is_mean: mean(sum),
    rollout_is_max: top,
    ...(args.rollout_is !== null && limits.cap.lower !== undefined ? { rollout_is_oob_ratio: mean(away) } : {}),
    rollout_rs_masked_fraction: mean(removed),
    rollout_rs_seq_masked_fraction: rows.length > 0 ? touched / rows.length : 0,
    ...Object.fromEntries(own),
  }
  return {
    experiences: result,
    metrics: Object.fromEntries(Object.entries(metrics).map(([name, value]) => [`rollout_corr/${name}`, value])),
  }
}
