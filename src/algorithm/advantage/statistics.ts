/** Mean and unbiased (n − 1) standard deviation. A group of one has nothing to compare with: mean 0, deviation 1. */
export function groupStats(values: readonly number[]): { mean: number; std: number } {
  if (values.length <= 1) return { mean: 0, std: 1 }
  const mean = meanOf(values)
  return { mean, std: Math.sqrt(squares(values, mean) / (values.length - 1)) }
}

/** The mean of equal numbers is that number: what rounding would leave must not look like a spread. */
export function meanOf(values: ArrayLike<number>): number {
  if (values.length === 0) return 0
  let sum = 0
  let isEqual = true
  for (let i = 0; i < values.length; i++) {
    sum += values[i]
    if (values[i] !== values[0]) isEqual = false
  }
  // Adding 0 makes a 0 of a −0.
  return isEqual ? values[0] + 0 : sum / values.length
}

/** Unbiased (n − 1) standard deviation; of one value 0. */
export function sampleStd(values: readonly number[]): number {
  return values.length > 1 ? groupStats(values).std : 0
}

/** Standard deviation of the values themselves (divided by n). */
export function populationStd(values: readonly number[]): number {
  return values.length === 0 ? 0 : Math.sqrt(squares(values, meanOf(values)) / values.length)
}

function squares(values: readonly number[], mean: number): number {
  let sum = 0
  for (const value of values) sum += (value - mean) ** 2
  return sum
}

/** A deviation below this is none: what is left of numbers that are equal but for rounding. */
const NO_SPREAD = 1e-9

/** `name/mean`, `name/max`, `name/min` of what was measured per group; of `reward_std` also the share that has none. */
export function summarize(
  prefix: string,
  measured: Readonly<Record<string, readonly number[]>>,
): Record<string, number> {
  const metrics: Record<string, number> = {}
  for (const [name, values] of Object.entries(measured)) {
    if (values.length === 0) continue
    metrics[`${prefix}/${name}/mean`] = meanOf(values)
    metrics[`${prefix}/${name}/max`] = values.reduce((a, b) => Math.max(a, b))
    metrics[`${prefix}/${name}/min`] = values.reduce((a, b) => Math.min(a, b))
    if (name === 'reward_std') {
      metrics[`${prefix}/${name}/zero_ratio`] = values.filter((std) => std < NO_SPREAD).length / values.length
    }
  }
  return metrics
}
