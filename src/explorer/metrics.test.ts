import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { combine, parseMetric } from '../monitor/combine.js'
import { type Metrics, ofBatch, ofEvalSet, ofEvalTask } from './metrics.js'

describe('metrics', () => {
  it('carry their own aggregation in their name', () => {
    expect(parseMetric('ns:metric_name:sum')).toEqual({ name: 'ns:metric_name', kind: 'sum' })
    expect(parseMetric('ns:other')).toEqual({ name: 'ns:other', kind: 'mean' })
    const runs: Metrics[] = [
      { a: 1, 'b:sum': 1, 'c:max': 5, 'd:min': 5, 'e:last': 1, odd: Number.NaN },
      { a: 3, 'b:sum': 2, 'c:max': 4, 'd:min': 4, 'e:last': 2 },
    ]
    expect(combine(runs)).toEqual({ a: 2, 'b:sum': 3, 'c:max': 5, 'd:min': 4, 'e:last': 2 })
    expect(ofBatch('rollout', runs)).toEqual({
      'rollout/a/mean': 2,
      'rollout/a/max': 3,
      'rollout/a/min': 1,
      'rollout/b/sum': 3,
      'rollout/c/max': 5,
      'rollout/d/min': 4,
      'rollout/e/last': 2,
    })
  })

  it('of an evaluated task: mean and population deviation', () => {
    const metrics = ofEvalTask([{ score: 0.2 }, { score: 0.8 }])
    expect(metrics['score/mean@2']).toBeCloseTo(0.5, 12)
    expect(metrics['score/std@2']).toBeCloseTo(0.3, 12)
    expect(ofEvalTask([{ score: 0.2, 'time/run_execution': 3 }])).toEqual({
      'score/mean@1': 0.2,
      'score/std@1': 0,
      'time/run_execution': 3,
    })
  })

  it('counts unanswered runs as 0 in scores alone', () => {
    const metrics = ofEvalTask([{ score: 1, response_length: 8 }], 3, ['score'])
    expect(metrics).toMatchObject({ 'score/mean@4': 0.25, 'response_length/mean@4': 8, 'response_length/std@4': 0 })
    expect(metrics['score/best@4']).toBeLessThan(1)
    expect(metrics['score/best@4']).toBeGreaterThan(metrics['score/best@2'])
    expect(Object.keys(metrics).filter((key) => key.includes('mean@'))).toHaveLength(2)
    expect(ofEvalTask([], 2, ['score'])).toMatchObject({ 'score/mean@2': 0, 'score/best@2': 0 })
  })

  it('best and worst of k as NumPy draws them (1000 resamples, seed 42)', () => {
    const metrics = ofEvalTask([0, 1, 0.25, 0.5, 0.75, 0.1].map((score) => ({ score })))
    const expected = { 2: [0.63845, 0.2208], 4: [0.8076, 0.09515], 6: [0.89075, 0.0466] }
    for (const [k, [best, worst]] of Object.entries(expected)) {
      expect(metrics[`score/best@${k}`]).toBeCloseTo(best, 10)
      expect(metrics[`score/worst@${k}`]).toBeCloseTo(worst, 10)
    }
    expect(metrics['score/std@6']).toBeCloseTo(0.3555121501283591, 12)
    expect(Object.keys(metrics).filter((key) => key.includes('best'))).toHaveLength(3)
  })

  it('worst ≤ mean ≤ best, and best grows with k', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 5, maxLength: 9 }), (values) => {
        const m = ofEvalTask(values.map((v) => ({ v })))
        const n = values.length
        // Estimates from 1000 draws: a little room.
        expect(m[`v/worst@${n}`]).toBeLessThanOrEqual(m[`v/mean@${n}`] + 0.05)
        expect(m[`v/best@${n}`]).toBeGreaterThanOrEqual(m[`v/mean@${n}`] - 0.05)
        expect(m['v/best@4']).toBeGreaterThanOrEqual(m['v/best@2'] - 0.05)
      }),
      { numRuns: 30 },
    )
  })

  it('of an evaluated set', () => {
    const tasks: Metrics[] = [{ 'accuracy/mean@1': 1 }, { 'accuracy/mean@1': 0, 'n:sum': 2 }]
    expect(ofEvalSet('eval/gsm8k', tasks, false)).toEqual({ 'eval/gsm8k/accuracy/mean@1': 0.5, 'eval/gsm8k/n/sum': 2 })
    expect(ofEvalSet('eval/gsm8k', tasks, true)).toMatchObject({
      'eval/gsm8k/accuracy/mean@1/mean': 0.5,
      'eval/gsm8k/accuracy/mean@1/std': 0.5,
    })
  })
})
