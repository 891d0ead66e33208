import { expect, it } from 'vitest'
import { namesOf, resourceCharts, stepCurve } from './perf-curves.js'

const steps: Record<string, number>[] = [
  { step: 1, 'rollout/reward/mean': 0.5, 'time/step': 2, 'other/x': 1 },
  { step: 2, 'rollout/reward/mean': 0.7, 'explorer/tokens_per_second': 100 },
]

it('metrics of steps: rates and times first, found by words', () => {
  expect(namesOf(steps, '')).toEqual(['explorer/tokens_per_second', 'time/step', 'rollout/reward/mean', 'other/x'])
  expect(namesOf(steps, 'REWARD mean')).toEqual(['rollout/reward/mean'])
  expect(stepCurve(steps, 'explorer/tokens_per_second')).toMatchObject({ step: [2], y: [100] })
})

it('a GPU that was not there at first has gaps, and a machine without has no charts of them', () => {
  const used = { cpu_percent: 150, memory_rss_mb: 10, memory_percent: 1 }
  const gpu = { gpu_id: 1, name: 'x', gpu_util_percent: 90, gpu_memory_used_mb: 5, gpu_memory_total_mb: 10 }
  const samples = [
    { timestamp: 10, ...used, gpu_metrics: [] },
    { timestamp: 12, ...used, gpu_metrics: [gpu] },
  ]
  const charts = resourceCharts(samples)
  expect(charts.map(({ title }) => title)).toHaveLength(4)
  expect(charts[2].curves).toMatchObject([{ label: 'GPU 1', y: [null, 90], time: [10, 12] }])
  expect(resourceCharts(samples.slice(0, 1))).toHaveLength(2)
})
