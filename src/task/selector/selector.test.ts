import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DataSelectorConfig, Given } from '../../config/index.js'
import { DifficultyEstimator } from './difficulty-estimator.js'
import { createSelector, selectors } from './index.js'

const none = async () => []
const make = (config: Given<DataSelectorConfig>, size: number, features: number[][] = []) =>
  createSelector(config, size, async () => features.map((feature) => Float64Array.from(feature)))

describe('selectors', () => {
  it('are the five that users know, each with a line about itself', () => {
    expect(selectors.names().sort()).toEqual([
      'difficulty_based',
      'offline_easy2hard',
      'random',
      'sequential',
      'shuffle',
    ])
    for (const name of selectors.names()) expect(selectors.get(name).doc).not.toBe('')
  })

  it('check their arguments and features', async () => {
    await expect(make({ selector_type: 'shufle' }, 3)).rejects.toMatchObject({
      hint: expect.stringContaining("'shuffle'"),
    })
    await expect(make({ kwargs: { tau: 1 } }, 3)).rejects.toMatchObject({ path: 'data_selector.kwargs.tau' })
    await expect(make({ selector_type: 'difficulty_based', feature_keys: ['a'] }, 3)).rejects.toThrow(
      'exactly 2 feature keys',
    )
    await expect(make({ selector_type: 'offline_easy2hard' }, 3)).rejects.toThrow('at least 1 feature key, got 0')
  })

  it('shuffle: every row once per epoch, another order each time, another one per seed', async () => {
    const shuffle = await make({ selector_type: 'shuffle', seed: 1 }, 50)
    const [first, second] = [shuffle.take(50), shuffle.take(50)]
    expect(new Set(first).size).toBe(50)
    expect([...first]).not.toEqual([...second])
    const other = await make({ selector_type: 'shuffle', seed: 9 }, 50)
    expect([...other.take(50)]).not.toEqual([...first])
  })

  it('random: no row twice in a batch; larger batches hold every row before any row twice', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 60 }), async (size, count) => {
        const rows = (await createSelector({ selector_type: 'random' }, size, none)).take(count)
        for (let at = 0; at < count; at += size) {
          const round = rows.subarray(at, at + size)
          expect(new Set(round).size).toBe(round.length)
        }
      }),
    )
  })

  it('offline_easy2hard: by falling features, later rows first among equals', async () => {
    const sorted = await make({ selector_type: 'offline_easy2hard', feature_keys: ['a', 'b'] }, 5, [
      [1, 2, 1, 2, 1],
      [5, 0, 7, 0, 5],
    ])
    expect([...sorted.take(7)]).toEqual([3, 1, 2, 4, 0, 3, 1])
  })
})

describe('difficulty_based', () => {
  const two = { selector_type: 'difficulty_based', feature_keys: ['weak', 'strong'] }
  const weak = [0.1, 0.5, 0.0, 0.9]
  const strong = [0.5, 0.9, 0.1, 1.0]

  it('with tau 0 takes the tasks whose expected pass rate is nearest to the target', async () => {
    const selector = await make({ ...two, kwargs: { tau: 0, target_reward: 0.5, rho: 1, lamb: 0 } }, 4, [weak, strong])
    selector.feedback([3], [0.95])
    // Capability 0.5: expected 0.3, 0.7, 0.05 and (observed) 0.95.
    expect([...selector.take(4)]).toEqual([1, 0, 2, 3].sort((a, b) => order(a) - order(b)))
    function order(row: number): number {
      const rates = [0.3, 0.7, 0.05, 0.95].map((rate) => (1 + 16 * rate) / 18)
      return Math.abs(0.5 - rates[row])
    }
  })

  it('learns nothing from a pass rate that is not finite', async () => {
    const [told, other] = await Promise.all(
      [1, 2].map(() => make({ ...two, kwargs: { do_sample: true } }, 4, [weak, strong])),
    )
    told.feedback([0, 1, 2], [Number.NaN, 0.5, Number.POSITIVE_INFINITY])
    told.feedback([3], [Number.NaN])
    other.feedback([1], [0.5])
    expect(told.state()).toEqual(other.state())
    expect([...told.take(4)]).toEqual([...other.take(4)])
  })

  it('draws without repetition, with the frequencies of the softmax', async () => {
    const config = { ...two, kwargs: { tau: 0.3, target_reward: 1 } }
    const counts = new Float64Array(4)
    const draws = 4000
    for (let seed = 0; seed < draws; seed++) {
      const selector = await make({ ...config, seed: seed * 1000 }, 4, [weak, strong])
      selector.feedback([0], [0.5])
      const rows = selector.take(2)
      expect(rows[0]).not.toBe(rows[1])
      counts[rows[0]]++
    }
    const estimator = new DifficultyEstimator(Float64Array.from(weak), Float64Array.from(strong), {
      m: 16,
      lamb: 0.2,
      rho: 0.2,
      adaptive_rho: false,
    })
    estimator.update([0], [0.5])
    const weights = weak.map((_, row) => Math.exp(-Math.abs(1 - estimator.passRate(row)) / 0.3))
    const total = weights.reduce((sum, weight) => sum + weight, 0)
    let chiSquare = 0
    for (const [row, weight] of weights.entries()) {
      const expected = (draws * weight) / total
      chiSquare += (counts[row] - expected) ** 2 / expected
    }
    expect(chiSquare).toBeLessThan(16.3) // 3 degrees of freedom, p = 0.001
  })

  it('do_sample draws the pass rates too, and stays reproducible', async () => {
    const config = { ...two, kwargs: { do_sample: true, tau: 0 } }
    const [one, same] = [await make(config, 4, [weak, strong]), await make(config, 4, [weak, strong])]
    const first = Array.from({ length: 20 }, () => [...one.take(1)])
    expect(Array.from({ length: 20 }, () => [...same.take(1)])).toEqual(first)
    expect(new Set(first.flat()).size).toBeGreaterThan(1)
  })

  it('refuses the state of another data set', async () => {
    const four = await make(two, 4, [weak, strong])
    const three = await make(two, 3, [weak.slice(1), strong.slice(1)])
    expect(() => three.restore(four.state())).toThrow('knew 4 tasks, the data has 3')
    expect(() => four.restore({ ...four.state(), current_index: -1 })).toThrow('saved position')
  })
})

describe('the estimator', () => {
  it('follows its formulas step by step', () => {
    const estimator = new DifficultyEstimator(Float64Array.of(0.2, 0.4, 0), Float64Array.of(0.6, 0.8, 1), {
      m: 10,
      lamb: 0.5,
      rho: 0.4,
      adaptive_rho: true,
    })
    estimator.update([0, 1], [0.5, 0.9])
    // Capability (0.7 − 0.3) / (0.7 − 0.3 + 1e-6); predictions 0.6, 0.8 and 1: mean error 0.1, rho stays.
    expect(estimator.alpha[0]).toBeCloseTo(0.5 + 0.5 + 10 * 0.5, 5)
    expect(estimator.beta[1]).toBeCloseTo(1 + 10 * 0.1, 5)
    expect(estimator.alpha[2]).toBeCloseTo(1 + 0.4 * 10 * 1, 4)
    estimator.update([2], [0])
    // New capability 0.9 · 1 + 0.1 · 0; predicted 0.9 for row 2, wrong by 0.9: rho is halved.
    expect(estimator.state().rho).toBe(0.2)
    expect(estimator.alpha[2]).toBeCloseTo(0.5 * 5 + 0.5, 4)
    expect(estimator.beta[2]).toBeCloseTo(0.5 * 1 + 0.5 + 10, 4)
    const predicted = 0.2 + 0.4 * 0.9
    expect(estimator.alpha[0]).toBeCloseTo(0.5 * 6 + 0.5 + 0.2 * 10 * predicted, 4)
  })
})
