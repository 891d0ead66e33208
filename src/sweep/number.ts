import { figure } from '../monitor/terminal/number.js'
import type { Spread } from './compare.js'
import type { Axis } from './spec.js'

/** `0.612 ± 0.014`, both to the same place; of one seed the number alone. */
export function spreadText({ mean, deviation }: Spread): string {
  const size = Math.max(Math.abs(mean), deviation ?? 0)
  const isCommon = size >= 0.01 && size < 1000
  const text = (value: number) => (isCommon ? value.toFixed(size < 1 ? 3 : size < 10 ? 2 : 1) : figure(value))
  return deviation === undefined ? text(mean) : `${text(mean)} ± ${text(deviation)}`
}

const UNITS: Readonly<Record<Axis, string>> = { steps: 'steps', tokens: 'sampled tokens', seconds: 'seconds' }

export function unitOf(axis: Axis): string {
  return UNITS[axis]
}
