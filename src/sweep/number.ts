import { figure } from '../monitor/terminal/number.js'
import type { Spread } from './compare.js'
import type { Axis } from './spec.js'

/** `0.612 ± 0.014`; of one seed the number alone. */
export function spreadText({ mean, deviation }: Spread): string {
  return deviation === undefined ? figure(mean) : `${figure(mean)} ± ${figure(deviation)}`
}

const UNITS: Readonly<Record<Axis, string>> = { steps: 'steps', tokens: 'sampled tokens', seconds: 'seconds' }

export function unitOf(axis: Axis): string {
  return UNITS[axis]
}
