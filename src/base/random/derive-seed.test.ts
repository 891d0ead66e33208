import fc from 'fast-check'
import { expect, it } from 'vitest'
import { deriveSeed } from './derive-seed.js'

it('is a number from 0 to 2^52 that follows from the path alone', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.integer(), fc.string()), { maxLength: 6 }), (path) => {
      const seed = deriveSeed(...path)
      expect(Number.isSafeInteger(seed) && seed >= 0 && seed < 2 ** 52).toBe(true)
      expect(deriveSeed(...path)).toBe(seed)
    }),
  )
})

it('paths that read alike differ', () => {
  const paths = [[1], ['1'], [1, 2], [12], ['a', 'b'], ['ab'], [2, 1], [1, 2, 0], []]
  expect(new Set(paths.map((path) => deriveSeed(...path))).size).toBe(paths.length)
})

it('neighbors share nothing: over many steps the halves are even', () => {
  const seeds = Array.from({ length: 4096 }, (_, i) => deriveSeed(42, i))
  expect(new Set(seeds).size).toBe(4096)
  const upper = seeds.filter((seed) => seed >= 2 ** 51).length
  const odd = seeds.filter((seed) => seed % 2 === 1).length
  for (const count of [upper, odd]) expect(Math.abs(count - 2048)).toBeLessThan(200)
})
