import type { DrawSpec } from '../draw-spec.js'

/** What a draw depends on beside the logits. */
export interface DrawPlace {
  readonly prompt: Int32Array
  readonly made: readonly number[]
  /** Tokens that are out of reach. */
  readonly excluded: (token: number) => boolean
  /** Uniform in [0, 1). */
  readonly u: number
}

/** Bias, penalties, then temperature; greedy, or by the cumulative sum. −1: every token is out of reach. Knows no truncation. */
export function draw(logits: Float64Array, spec: DrawSpec, { prompt, made, excluded, u }: DrawPlace): number {
  const y = logits.slice()
  for (const [i, token] of spec.biased.entries()) y[token] += spec.bias[i]
  for (const token of new Set([...prompt, ...made])) y[token] *= y[token] > 0 ? 1 / spec.penalty : spec.penalty
  for (const token of new Set(made)) y[token] -= spec.presence
  for (const token of made) y[token] -= spec.frequency
  for (let token = 0; token < y.length; token++) if (excluded(token)) y[token] = -Infinity
  const peak = Math.max(...y)
  if (peak === -Infinity) return -1
  if (spec.greedy) return y.indexOf(peak)
  const p = y.map((x) => Math.exp((x - peak) * spec.invT))
  let left = u * p.reduce((a, b) => a + b, 0)
  for (let token = 0; token < p.length; token++) {
    left -= p[token]
    if (left < 0) return token
  }
  return p.findLastIndex((x) => x > 0)
}
