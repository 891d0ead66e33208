import type { Spread } from './compare.js'
import type { Axis } from './spec.js'

/** A number with as many places as tell anything. */
export function brief(value: number): string {
  const size = Math.abs(value)
  if (size >= 1000) return Math.round(value).toLocaleString('en-US')
  if (size >= 100 || Number.isInteger(value)) return String(Math.round(value))
  return size >= 0.001 || size === 0 ? value.toFixed(size >= 10 ? 1 : 3) : value.toExponential(1)
}

/** `0.612 ± 0.014`; of one seed the number alone. */
export function spreadText({ mean, deviation }: Spread): string {
  return deviation === undefined ? brief(mean) : `${brief(mean)} ± ${brief(deviation)}`
}

const UNITS: Readonly<Record<Axis, string>> = { steps: 'steps', tokens: 'sampled tokens', seconds: 'seconds' }

export function unitOf(axis: Axis): string {
  return UNITS[axis]
}
