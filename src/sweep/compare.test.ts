import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compare, meanCurve, spread, valueAt } from './compare.js'

const line = (...ys: number[]) => ys.map((y, i) => ({ x: 10 * i, y }))

describe('arms', () => {
  it('are compared where the one that spent least has ended', () => {
    const long = line(0, 0.5, 1, 0.2)
    const found = compare([
      { name: 'a', curves: [line(0, 0.4, 0.6), line(0.2, 0.2, 0.2)] },
      { name: 'b', curves: [long] },
      { name: 'nothing', curves: [[]] },
    ])
    expect(found?.budget).toBe(20)
    const [a, b] = found?.arms ?? []
    expect(found?.arms).toHaveLength(2)
    expect(a).toMatchObject({ name: 'a', runs: 2, first: { mean: 0.1 } })
    expect(a.atBudget.mean).toBeCloseTo(0.4, 12)
    // (0.6 - 0.4)² + (0.2 - 0.4)², over 2 - 1
    expect(a.atBudget.deviation).toBeCloseTo(Math.sqrt(0.08), 12)
    expect(b).toMatchObject({ runs: 1, atBudget: { mean: 1 }, highest: { mean: 1 } })
    expect(b.atBudget.deviation).toBeUndefined()
    expect(compare([{ name: 'a', curves: [] }])).toBeUndefined()
  })

  it('have values between their points on straight lines', () => {
    expect(valueAt(line(0, 1), 2.5)).toBe(0.25)
    expect(valueAt(line(0, 1), -5)).toBe(0)
    expect(valueAt(line(0, 1), 50)).toBe(1)
    const twice = [
      { x: 1, y: 0 },
      { x: 1, y: 4 },
    ]
    // the last weights are evaluated once more where the last step has spent nothing
    expect(valueAt(twice, 1)).toBe(4)
  })

  it('never leave the range of their points', () => {
    const points = fc.array(fc.record({ x: fc.nat(100), y: fc.float({ min: -1, max: 1, noNaN: true }) }), {
      minLength: 1,
    })
    fc.assert(
      fc.property(points, fc.integer({ min: -10, max: 110 }), (list, x) => {
        const curve = list.toSorted((a, b) => a.x - b.x)
        const ys = curve.map(({ y }) => y)
        const value = valueAt(curve, x)
        expect(value).toBeGreaterThanOrEqual(Math.min(...ys) - 1e-9)
        expect(value).toBeLessThanOrEqual(Math.max(...ys) + 1e-9)
      }),
    )
  })

  it('have a mean curve from the first point to the budget', () => {
    const curve = meanCurve([line(0, 1), line(1, 1)], 10, 2)
    expect(curve.map(({ x, mean }) => [x, mean])).toEqual([
      [0, 0.5],
      [5, 0.75],
      [10, 1],
    ])
    expect(spread([2, 4]).deviation).toBeCloseTo(Math.SQRT2, 12)
  })
})
