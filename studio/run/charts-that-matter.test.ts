import { describe, expect, it } from 'vitest'
import { chartsThatMatter, foundMetrics } from './charts-that-matter.js'

const metrics = [
  'actor/entropy',
  'actor/final_loss',
  'actor/loss',
  'critic/score/mean',
  'eval/set/reward/mean@1',
  'eval/set/reward/std@1',
  'rollout/reward/mean',
].map((name) => ({ name, role: 'trainer', count: 1, last: 0 }))

describe('charts that matter', () => {
  it('begin with reward and evaluation, and end with what the run does not have', () => {
    const charts = chartsThatMatter(metrics)
    expect(charts.slice(0, 4).map(({ title, names }) => [title, names])).toEqual([
      ['Reward', ['rollout/reward/mean']],
      ['Evaluation', ['eval/set/reward/mean@1']],
      ['Loss', ['actor/final_loss']],
      ['Entropy', ['actor/entropy']],
    ])
    expect(charts.at(-1)!.names).toEqual([])
  })

  it('show the most telling measure of each set', () => {
    const names = [
      'eval/a/reward/mean@4',
      'eval/a/accuracy/mean@4',
      'eval/a/reward/best@4',
      'eval/b/score',
      'eval/b/reward',
    ]
    const charts = chartsThatMatter(names.map((name) => ({ name })))
    expect(charts.find(({ title }) => title === 'Evaluation')?.names).toEqual([
      'eval/a/accuracy/mean@4',
      'eval/a/reward/best@4',
      'eval/b/score',
    ])
  })
})

describe('an evaluation with detailed statistics', () => {
  it('shows the mean of the most telling measure', () => {
    const names = ['accuracy', 'reward'].flatMap((measure) =>
      ['mean', 'max', 'min', 'std'].map((statistic) => `eval/a/${measure}/mean@4/${statistic}`),
    )
    const charts = chartsThatMatter(names.map((name) => ({ name })))
    expect(charts.find(({ title }) => title === 'Evaluation')?.names).toEqual(['eval/a/accuracy/mean@4/mean'])
  })
})

describe('a search for metrics', () => {
  it('groups what it finds', () => {
    expect(
      foundMetrics(metrics, 'REWARD mean').map(([group, found]) => [group, found.map(({ name }) => name)]),
    ).toEqual([
      ['eval', ['eval/set/reward/mean@1']],
      ['rollout', ['rollout/reward/mean']],
    ])
  })
})
