import type { RolloutCorrection } from './args.js'
import type { Bounds } from './bounds.js'
import { bounded, type LogRatios } from './log-ratios.js'

/** e^d before the cap, for every token: its own, or the sequence's. */
export function importance({ d, total }: LogRatios, { rollout_is }: Pick<RolloutCorrection, 'rollout_is'>) {
  if (rollout_is === null) return new Float64Array(d.length).fill(1)
  if (rollout_is === 'token') return d.map(Math.exp)
  return new Float64Array(d.length).fill(Math.exp(bounded(total)))
}

/** A ratio as it weighs: cut at the upper limit, or 0 outside of both. */
export function capped({ lower, upper }: Bounds): (ratio: number) => number {
  if (lower === undefined) return (ratio) => Math.min(ratio, upper)
  return (ratio) => (ratio < lower || ratio > upper ? 0 : ratio)
}

/** Over what the weights belong to: tokens, or sequences whatever their length. 1 where there is none. */
export function meanWeight(
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
