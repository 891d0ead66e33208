import type { Metrics } from './monitor.js'

/** A name of a metric may end in `:sum`, `:max`, `:min`, `:last` or `:mean`, which says how many become one. */
export type Kind = 'mean' | 'sum' | 'max' | 'min' | 'last'

const KINDS: readonly Kind[] = ['mean', 'sum', 'max', 'min', 'last']

/** The name and the kind; a suffix that is no kind belongs to the name. */
export function parseMetric(key: string): { name: string; kind: Kind } {
  const at = key.lastIndexOf(':')
  const kind = at < 0 ? undefined : KINDS.find((one) => one === key.slice(at + 1))
  return kind ? { name: key.slice(0, at), kind } : { name: key, kind: 'mean' }
}

/** Values of each metric over several records, in order. What is not a finite number is left out. */
export function columns(records: readonly Metrics[]): Map<string, number[]> {
  const all = new Map<string, number[]>()
  for (const record of records) {
    for (const [key, value] of Object.entries(record)) {
      if (!Number.isFinite(value)) continue
      const values = all.get(key)
      if (values) values.push(value)
      else all.set(key, [value])
    }
  }
  return all
}

export const mean = (values: readonly number[]) => values.reduce((sum, x) => sum + x, 0) / values.length

export function reduce(values: readonly number[], kind: Kind): number {
  if (kind === 'mean') return mean(values)
  if (kind === 'last') return values[values.length - 1]
  if (kind === 'sum') return values.reduce((sum, x) => sum + x, 0)
  return values.reduce((best, x) => (kind === 'max' ? Math.max(best, x) : Math.min(best, x)))
}

/** Experiences of a run, or runs of a task: one record, whose names keep their endings. */
export function combine(records: readonly Metrics[]): Metrics {
  if (records.length === 1) return Object.fromEntries(Object.entries(records[0]).filter(([, x]) => Number.isFinite(x)))
  const result: Record<string, number> = {}
  for (const [key, values] of columns(records)) result[key] = reduce(values, parseMetric(key).kind)
  return result
}
