import type { Metric, Metrics } from './contract.js'

/** Joins the metrics of micro-batches or ranks as if everything had been computed at once. */
export function mergeMetrics(parts: readonly Metrics[]): Metrics {
  const merged: Record<string, Metric> = {}
  for (const part of parts) {
    for (const [name, metric] of Object.entries(part)) {
      const sofar = merged[name]
      merged[name] =
        sofar === undefined || sofar.weight === 0 ? metric : metric.weight === 0 ? sofar : join(sofar, metric)
    }
  }
  return merged
}

function join(a: Metric, b: Metric): Metric {
  const weight = a.weight + b.weight
  switch (a.reduce) {
    case 'sum':
      return { value: a.value + b.value, weight, reduce: 'sum' }
    case 'max':
      return { value: Math.max(a.value, b.value), weight, reduce: 'max' }
    case 'min':
      return { value: Math.min(a.value, b.value), weight, reduce: 'min' }
    case 'mean':
      return { value: (a.value * a.weight + b.value * b.weight) / weight, weight, reduce: 'mean' }
  }
}
