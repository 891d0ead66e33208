import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type LengthTrial, largestOf, searchLength } from './length-search.js'

const until =
  (capacity: number) =>
  async (length: number): Promise<LengthTrial> => {
    return { length, end: length <= capacity ? 'trained' : 'memory' }
  }

describe('the search of a context length', () => {
  it('doubles until it fails, then halves', async () => {
    const trials = await searchLength({ start: 1024, step: 512, most: 100_000 }, until(5000))
    expect(trials.map(({ length }) => length)).toEqual([1024, 2048, 4096, 8192, 6144, 5120, 4608])
    expect(largestOf(trials)).toBe(4608)
  })

  it('finds the largest multiple that can be trained, trying none twice', async () => {
    const whole = (min: number, max: number) => fc.integer({ min, max })
    const question = fc.record({ start: whole(1, 5000), step: whole(1, 700), most: whole(700, 60_000) })
    await fc.assert(
      fc.asyncProperty(question, whole(0, 70_000), async (asked, capacity) => {
        const trials = await searchLength(asked, until(capacity))
        const lengths = trials.map(({ length }) => length)
        expect(largestOf(trials)).toBe(Math.floor(Math.min(capacity, asked.most) / asked.step) * asked.step)
        expect(new Set(lengths).size).toBe(lengths.length)
        expect(Math.max(...lengths)).toBeLessThanOrEqual(asked.most)
      }),
    )
  })
})
