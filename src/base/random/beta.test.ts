import { describe, expect, it } from 'vitest'
import { beta } from './beta.js'
import { Pcg64 } from './pcg64.js'

describe('beta', () => {
  it.each([
    [1, 1],
    [0.3, 0.7],
    [8, 2.5],
  ])('Beta(%f, %f) has its mean, its variance and its range', (a, b) => {
    const rng = new Pcg64(3)
    const count = 40000
    let sum = 0
    let squares = 0
    let inside = true
    for (let i = 0; i < count; i++) {
      const x = beta(rng, a, b)
      inside &&= x >= 0 && x <= 1
      sum += x
      squares += x * x
    }
    expect(inside).toBe(true)
    const mean = a / (a + b)
    const variance = (a * b) / ((a + b) ** 2 * (a + b + 1))
    expect(Math.abs(sum / count - mean)).toBeLessThan(4 * Math.sqrt(variance / count))
    expect((squares / count - (sum / count) ** 2) / variance).toBeCloseTo(1, 1)
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 0, -0.5])('says that there is no Beta(%f, 1)', (shape) => {
    expect(() => beta(new Pcg64(3), shape, 1)).toThrowError(expect.objectContaining({ code: 'random/range' }))
    expect(() => beta(new Pcg64(3), 1, shape)).toThrowError(/both must be positive/)
  })
})
