import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { tempDir } from '../../test/support/temp-dir.js'
import { benchResult, writeBenchResults } from './bench-results.js'

const METRICS = {
  'bench/aime24/success/mean@4': 0.25,
  'bench/aime24/success/best@2': 0.4,
  'bench/aime24/reward/mean@4': 0.2,
  'bench/aime24/finished_task_count': 30,
  'bench/aime24/run_count': 120,
  'bench/aime24/failed_run_count': 2,
  'bench/aime24/too_long_task_count': 3,
  'bench/aime/odd': 1,
  'bench/aime/finished_task_count': 5,
  'time/bench': 12,
}

it('gives each set its own numbers, and the one that says how good it is', () => {
  const { tasksets, ...rest } = benchResult({ step: 3, path: 'm' }, ['aime24', 'aime'], METRICS)
  expect(rest).toEqual({ step: 3, path: 'm', seconds: 12 })
  expect(tasksets.aime24).toEqual({
    score: 0.25,
    metric: 'success/mean@4',
    tasks: 30,
    failed_runs: 2,
    too_long_tasks: 3,
    metrics: { 'success/mean@4': 0.25, 'success/best@2': 0.4, 'reward/mean@4': 0.2 },
  })
  expect(tasksets.aime).toEqual({
    score: undefined,
    metric: undefined,
    tasks: 5,
    failed_runs: 0,
    too_long_tasks: 0,
    metrics: { odd: 1 },
  })
})

it('knows the mean among detailed numbers', () => {
  const all = { 'bench/a/success/mean@1/max': 1, 'bench/a/success/mean@1/mean': 0.5 }
  expect(benchResult({ step: 0, path: 'm' }, ['a'], all).tasksets.a.score).toBe(0.5)
})

it('writes all of them into one file', async () => {
  const results = [0, 4].map((step) => benchResult({ step, path: `m${step}` }, ['aime'], METRICS))
  const file = await writeBenchResults(await tempDir(), 'model', results)
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
    model: 'model',
    results: JSON.parse(JSON.stringify(results)),
  })
})
