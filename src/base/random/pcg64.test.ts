import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Pcg64 } from './pcg64.js'

interface Golden {
  seed: string
  uint64: string[]
  random: number[]
  permutation: number[]
  shuffleList: number[]
  choice: number[]
  choiceTail: number[]
  choiceFloyd: number[]
  bigPermutation: number[]
}
const golden: Golden[] = JSON.parse(readFileSync(new URL('./golden-numpy.json', import.meta.url), 'utf8'))
const range = (size: number) => Array.from({ length: size }, (_, i) => i)

describe('Pcg64 gives the numbers of numpy.random.default_rng', () => {
  it.each(golden)('seed $seed', (vector) => {
    const rng = () => new Pcg64(BigInt(vector.seed))
    const raw = rng()
    expect(vector.uint64.map(() => String(raw.uint64()))).toEqual(vector.uint64)
    const doubles = rng()
    expect(vector.random.map(() => doubles.random())).toEqual(vector.random)
    expect([...rng().permutation(17)]).toEqual(vector.permutation)
    expect([...rng().permutation(5000).slice(0, 6)]).toEqual(vector.bigPermutation)
    expect([...rng().choice(20, 7)]).toEqual(vector.choice)
    expect([...rng().choice(12000, 300).slice(0, 8)]).toEqual(vector.choiceTail)
    expect([...rng().choice(1000000, 5)]).toEqual(vector.choiceFloyd)
    const list = range(13)
    rng().shuffle(list)
    expect(list).toEqual(vector.shuffleList)
  })

  it('draws each bounded number equally often', () => {
    const rng = new Pcg64(7)
    const counts = new Float64Array(6)
    for (let i = 0; i < 60000; i++) counts[rng.below(5)]++
    const chiSquare = counts.reduce((sum, n) => sum + (n - 10000) ** 2 / 10000, 0)
    expect(chiSquare).toBeLessThan(20.5) // 5 degrees of freedom, p = 0.001
  })

  it('always permutes, and always chooses without repetition', () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 300 }), fc.nat(), (seed, size, pick) => {
        const count = pick % (size + 1)
        expect([...new Pcg64(seed).permutation(size)].sort((a, b) => a - b)).toEqual(range(size))
        const chosen = new Pcg64(seed).choice(size, count)
        expect(new Set(chosen).size).toBe(count)
        expect([...chosen].every((i) => i >= 0 && i < size)).toBe(true)
      }),
    )
  })

  it('a copy draws the same numbers, and neither disturbs the other', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(5), (seed, before) => {
        const rng = new Pcg64(seed)
        for (let i = 0; i < before; i++) rng.uint32()
        const copy = rng.copy()
        const draws = (from: Pcg64) => [from.below(9), from.random(), from.below(9)]
        const first = draws(copy)
        expect(draws(rng)).toEqual(first)
        expect(draws(rng)).toEqual(draws(copy))
      }),
    )
  })

  it('refuses seeds it cannot have', () => {
    for (const bad of [-1, 1.5, Number.NaN, -3n]) expect(() => new Pcg64(bad)).toThrow(/non-negative integer/)
    expect(() => new Pcg64(0).choice(3, 4)).toThrow('cannot choose 4 of 3')
  })
})
