import type { LossMetric, LossMetrics } from './contract.js'

/** Joins the metrics of micro-batches or ranks as if everything had been computed at once. */
export function mergeMetrics(parts: readonly LossMetrics[]): LossMetrics {
  const merged: Record<string, LossMetric> = {}
  for (const part of parts) {
    for (const [name, metric] of Object.entries(part)) {
      const sofar = merged[name]
      merged[name] =
        sofar === undefined || sofar.weight === 0 ? metric : metric.weight === 0 ? sofar : join(sofar, metric)
    }
  }
  return merged
}

function join(a: LossMetric, b: LossMetric): LossMetric {
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
