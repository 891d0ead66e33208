import type { PerfReport, ResourceSample } from '../../src/studio/api.js'
import type { Curve } from '../part/curve.js'

type Steps = PerfReport['step_metrics']

/** Times first: they are what a measurement is for. */
const FIRST = [/tokens_per_second/, /^time\//, /time\//, /_length\/mean$/, /^rollout\/reward\/mean$/]

/** Names of the metrics of the steps that have every word of a search, those that matter first. */
export function namesOf(steps: Steps, search: string): string[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  const names = [...new Set(steps.flatMap((row) => Object.keys(row)))].filter((name) => name !== 'step')
  const rank = (name: string) => {
    const at = FIRST.findIndex((pattern) => pattern.test(name))
    return at < 0 ? FIRST.length : at
  }
  return names
    .filter((name) => words.every((word) => name.toLowerCase().includes(word)))
    .sort((one, other) => rank(one) - rank(other) || (one < other ? -1 : 1))
}

export function stepCurve(steps: Steps, name: string): Curve {
  const rows = steps.filter((row) => typeof row[name] === 'number')
  const step = rows.map((row) => row.step)
  return { label: name, colorIndex: 0, step, time: step, y: rows.map((row) => row[name]), isSparse: true }
}

/** CPU, memory, and for GPUs how busy and how full each is. */
export function resourceCharts(samples: readonly ResourceSample[]): { title: string; curves: Curve[] }[] {
  const time = samples.map(({ timestamp }) => timestamp)
  const curve = (label: string, colorIndex: number, y: (sample: ResourceSample) => number | undefined): Curve => ({
    ...{ label, colorIndex, step: time, time, isSparse: false },
    y: samples.map((sample) => y(sample) ?? null),
  })
  const charts = [
    { title: 'CPU (100 is one core)', curves: [curve('cpu_percent', 0, (one) => one.cpu_percent)] },
    { title: 'Memory (MB)', curves: [curve('memory_rss_mb', 1, (one) => one.memory_rss_mb)] },
  ]
  const ids = [...new Set(samples.flatMap((one) => one.gpu_metrics.map(({ gpu_id: id }) => id)))].sort((a, b) => a - b)
  if (ids.length === 0) return charts
  const gpu = (sample: ResourceSample, id: number) => sample.gpu_metrics.find(({ gpu_id: one }) => one === id)
  return [
    ...charts,
    {
      title: 'GPU utilization (%)',
      curves: ids.map((id, i) => curve(`GPU ${id}`, i, (one) => gpu(one, id)?.gpu_util_percent)),
    },
    {
      title: 'GPU memory (MB)',
      curves: ids.map((id, i) => curve(`GPU ${id}`, i, (one) => gpu(one, id)?.gpu_memory_used_mb)),
    },
  ]
}
