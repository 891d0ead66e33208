import { describe, expect, it } from 'vitest'
import type { RunSummary } from '../../src/studio/api.js'
import { found, readOrder, sorted, writeOrder } from './order.js'

const run = (id: string, more: Partial<RunSummary> = {}): RunSummary => ({
  ...{ id, name: id, path: `/${id}`, state: 'finished', roles: [], changed: 0, tags: [], problems: [] },
  progress: { step: 1, role: 'trainer' },
  ...more,
})
const scored = (id: string, score: number) => {
  const evaluation = { step: 1, metric: 'eval/x/reward', score }
  return run(id, { evaluation: { first: evaluation, best: evaluation, last: evaluation } })
}
const ids = (runs: readonly RunSummary[]) => runs.map(({ id }) => id).join('')

describe('order of runs', () => {
  it('is in the address', () => {
    expect(readOrder('-best')).toEqual({ by: 'best', isDown: true })
    expect(readOrder('name')).toEqual({ by: 'name', isDown: false })
    expect(readOrder('nonsense')).toEqual(readOrder(undefined))
    expect(writeOrder(readOrder('-last'))).toBe('-last')
  })

  it('has runs without a value last, in both directions', () => {
    const runs = [run('c'), scored('a', 1), scored('b', 2)]
    expect(ids(sorted(runs, { by: 'best', isDown: true }))).toBe('bac')
    expect(ids(sorted(runs, { by: 'best', isDown: false }))).toBe('abc')
  })

  it('goes by the last reward, not by the end of the small curve', () => {
    const rewarded = (id: string, last: number, mean: number) =>
      run(id, { spark: { metric: 'rollout/reward/mean', last, values: [mean] } })
    const runs = [rewarded('a', 1, 9), rewarded('b', 2, 8), run('c')]
    expect(ids(sorted(runs, { by: 'reward', isDown: true }))).toBe('bac')
  })

  it('shows first what runs now', () => {
    const runs = [run('a'), run('b', { state: 'failed' }), run('c', { state: 'running' })]
    expect(ids(sorted(runs, { by: 'state', isDown: false }))).toBe('cba')
  })
})

it('a search finds every word anywhere', () => {
  const runs = [
    run('walk', { algorithm: 'grpo', model: 'Qwen2.5' }),
    run('push', { algorithm: 'ppo', tags: ['Paper'] }),
  ]
  expect(ids(found(runs, 'paper'))).toBe('push')
  expect(ids(found(runs, 'qwen GRPO'))).toBe('walk')
  expect(ids(found(runs, '  '))).toBe('walkpush')
  expect(ids(found(runs, 'qwen ppo'))).toBe('')
})
