import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tempDir } from '../../test/support/temp-dir.js'
import { RunNumbers } from './curve.js'

const row = (step: number, metrics: Record<string, number>) => ({ step, time: 100 + 2 * step, metrics })

describe('the numbers of a run', () => {
  const numbers = new RunNumbers(
    [
      row(0, { 'eval/held/reward/mean@1': 0.1, 'eval/held/accuracy/mean@1': 0.2 }),
      row(1, { 'rollout/sampled_tokens/sum': 30, 'rollout/reward/mean': 0.5 }),
      row(2, { 'rollout/sampled_tokens/sum': 20, 'eval/held/accuracy/mean@1': 0.4 }),
    ],
    [row(1, { 'actor/loss': 3 }), row(2, { 'actor/loss': Number.NaN }), row(3, { 'actor/loss': 1 })],
  )

  it('lie over steps, tokens or seconds', () => {
    const of = (axis: 'steps' | 'tokens' | 'seconds') => numbers.curve('eval/held/accuracy/mean@1', axis)
    expect(of('steps')).toEqual([
      { x: 0, y: 0.2 },
      { x: 2, y: 0.4 },
    ])
    expect(of('tokens')).toEqual([
      { x: 0, y: 0.2 },
      { x: 50, y: 0.4 },
    ])
    expect(of('seconds')).toEqual([
      { x: 0, y: 0.2 },
      { x: 4, y: 0.4 },
    ])
    expect(numbers.curve('actor/loss', 'steps')).toEqual([
      { x: 1, y: 3 },
      { x: 3, y: 1 },
    ])
    expect(numbers.curve('actor/loss', 'tokens')).toEqual([])
    expect(numbers.curve('nothing', 'steps')).toEqual([])
  })

  it('have one that says how good the model is', () => {
    expect(numbers.defaultMetric()).toBe('eval/held/accuracy/mean@1')
    const detailed = { 'eval/held/score/mean@1/max': 1, 'eval/held/score/mean@1/mean': 0.5, 'rollout/reward/mean': 1 }
    expect(new RunNumbers([row(1, detailed)], []).defaultMetric()).toBe('eval/held/score/mean@1/mean')
    expect(new RunNumbers([row(1, { 'rollout/reward/mean': 1 })], []).defaultMetric()).toBe('rollout/reward/mean')
    expect(new RunNumbers([], [row(1, { 'actor/loss': 1 })]).defaultMetric()).toBe('actor/loss')
    expect(new RunNumbers([], []).defaultMetric()).toBeUndefined()
  })

  it('are read from the folder of a job, as far as they are there', async () => {
    const dir = await tempDir()
    expect(RunNumbers.of(dir).names()).toEqual([])
    mkdirSync(join(dir, 'monitor'))
    writeFileSync(join(dir, 'monitor/explorer.jsonl'), `${JSON.stringify(row(1, { a: 1 }))}\n{"step":2,"tim`)
    expect(RunNumbers.of(dir).curve('a', 'steps')).toEqual([{ x: 1, y: 1 }])
  })
})
