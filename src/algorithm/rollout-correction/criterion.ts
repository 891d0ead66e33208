import { type Bounds, parseBounds } from './bounds.js'

/**
 * What is left out of the training: tokens or sequences whose number lies outside the limits. `d` is old − rollout at a
 * token. veRL's names say which number and over what: k1 = −d, k2 = d²/2, k3 = e^d − 1 − d; of a token, or the sum,
 * mean or maximum of a sequence. Its older names `token`, `sequence`, `geometric` are d itself, its sum, its mean.
 */
export interface Criterion {
  readonly name: string
  readonly over: 'token' | 'sum' | 'mean' | 'max'
  of(d: number): number
  readonly low: number
  readonly high: number
}

const ESTIMATORS: Readonly<Record<string, (d: number) => number>> = {
  k1: (d) => -d,
  k2: (d) => (d * d) / 2,
  k3: (d) => Math.exp(d) - 1 - d,
}

const OLDER: Readonly<Record<string, Criterion['over']>> = { token: 'token', sequence: 'sum', geometric: 'mean' }

export const CRITERIA: readonly string[] = [
  ...['token', 'seq_sum', 'seq_mean'].flatMap((over) => ['k1', 'k2', 'k3'].map((k) => `${over}_${k}`)),
  'seq_max_k2',
  'seq_max_k3',
  ...Object.keys(OLDER),
]

export const isOlder = (name: string) => Object.hasOwn(OLDER, name)

/** `given`: `2`, or `"0.5_2.0"` where the number is a ratio. A text says what is wrong with it. */
export function criterionOf(name: string, given: number | string, lower?: number): Criterion | string {
  const bounds = parseBounds(given)
  if (!bounds) return `expected a positive number or lower_upper such as "0.5_2.0", found ${JSON.stringify(given)}`
  if (isOlder(name)) return { name, over: OLDER[name], of: (d) => d, ...logs(bounds, lower) }
  const [, over, kind] = /^(?:seq_)?(\w+)_(k\d)$/.exec(name) as unknown as [string, Criterion['over'], string]
  const of = ESTIMATORS[kind]
  if (kind === 'k1') return { name, over, of, ...logs(bounds, lower) }
  if (bounds.lower !== undefined) return `${name} is a divergence and has an upper limit only, found ${given}`
  return { name, over, of, low: Number.NEGATIVE_INFINITY, high: bounds.upper }
}

function logs({ lower, upper }: Bounds, given?: number): Pick<Criterion, 'low' | 'high'> {
  return { low: Math.log(lower ?? given ?? 1 / upper), high: Math.log(upper) }
}
