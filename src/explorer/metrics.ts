import { Mt19937 } from '../base/random/index.js'
import { columns, mean, parseMetric, reduce } from '../monitor/combine.js'
import type { Metrics } from '../monitor/monitor.js'

export type { Metrics }

/** Population deviation. */
function deviation(values: readonly number[]): number {
  const center = mean(values)
  return Math.sqrt(mean(values.map((x) => (x - center) ** 2)))
}

/** Tasks of a batch: `<prefix>/<name>/{mean,max,min}`, or `<prefix>/<name>/<kind>` for a name with an ending. */
export function ofBatch(prefix: string, tasks: readonly Metrics[]): Metrics {
  const result: Record<string, number> = {}
  for (const [key, values] of columns(tasks)) {
    const { name, kind } = parseMetric(key)
    for (const one of kind === 'mean' ? (['mean', 'max', 'min'] as const) : [kind]) {
      result[`${prefix}/${name}/${one}`] = reduce(values, one)
    }
  }
  return result
}

const RESAMPLES = 1000
const BOOTSTRAP_SEED = 42

/**
 * Runs of an evaluated task: `<m>/mean@n`, `<m>/std@n`, and for several runs `<m>/best@k`, `<m>/worst@k`, k = 2, 4, 8, …
 * and n: how good the best (worst) of k runs is on average, by drawing k of the n runs with replacement 1000 times.
 * Times are plain means. Each of the `unanswered` runs counts as 0 in the metrics in `scores`. The other metrics are
 * taken over the runs that have them, but n includes the unanswered runs, so that the names stay the same.
 */
export function ofEvalTask(runs: readonly Metrics[], unanswered = 0, scores: readonly string[] = []): Metrics {
  const result: Record<string, number> = {}
  const zeros = Object.fromEntries(scores.map((name) => [name, 0]))
  const all = [...runs, ...Array.from({ length: unanswered }, () => zeros)]
  for (const [key, values] of columns(all)) {
    const { name, kind } = parseMetric(key)
    if (kind !== 'mean' || name.startsWith('time/')) {
      result[key] = reduce(values, kind)
      continue
    }
    const n = scores.includes(key) ? values.length : values.length + unanswered
    result[`${name}/mean@${n}`] = mean(values)
    result[`${name}/std@${n}`] = deviation(values)
    for (const k of sizes(n)) {
      const { best, worst } = bootstrap(values, k)
      result[`${name}/best@${k}`] = best
      result[`${name}/worst@${k}`] = worst
    }
  }
  return result
}

/** 2, 4, 8, … below n, and n; nothing for a single run. */
function sizes(n: number): number[] {
  if (n < 2) return []
  const all: number[] = []
  for (let k = 2; k < n; k *= 2) all.push(k)
  return [...all, n]
}

function bootstrap(values: readonly number[], size: number): { best: number; worst: number } {
  const rng = new Mt19937(BOOTSTRAP_SEED)
  let [best, worst] = [0, 0]
  for (let i = 0; i < RESAMPLES; i++) {
    let [high, low] = [-Infinity, Infinity]
    for (let j = 0; j < size; j++) {
      const value = values[rng.below(values.length - 1)]
      if (value > high) high = value
      if (value < low) low = value
    }
    best += high
    worst += low
  }
  return { best: best / RESAMPLES, worst: worst / RESAMPLES }
}

/** Tasks of an evaluated set: `<prefix>/<name>`; with `detailed` its mean, maximum, minimum and deviation. */
export function ofEvalSet(prefix: string, tasks: readonly Metrics[], detailed: boolean): Metrics {
  const result: Record<string, number> = {}
  for (const [key, values] of columns(tasks)) {
    const { name, kind } = parseMetric(key)
    if (kind !== 'mean') result[`${prefix}/${name}/${kind}`] = reduce(values, kind)
    else if (!detailed) result[`${prefix}/${name}`] = mean(values)
    else {
      for (const one of ['mean', 'max', 'min'] as const) result[`${prefix}/${name}/${one}`] = reduce(values, one)
      result[`${prefix}/${name}/std`] = deviation(values)
    }
  }
  return result
}
