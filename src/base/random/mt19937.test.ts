import { describe, expect, it } from 'vitest'
import { Mt19937 } from './mt19937.js'

describe('Mt19937', () => {
  it('gives the published numbers of the reference implementation (init_genrand 5489)', () => {
    const rng = new Mt19937(5489)
    expect(Array.from({ length: 5 }, () => rng.uint32())).toEqual([
      3499211612, 581869302, 3890346734, 3586334585, 545404204,
    ])
    for (let i = 5; i < 9999; i++) rng.uint32()
    expect(rng.uint32()).toBe(4123659995) // the 10000th, as C++ requires of std::mt19937
  })

  it('gives torch.rand of manual_seed(42)', () => {
    const rng = new Mt19937(42)
    const first = Array.from({ length: 5 }, () => (rng.uint32() & 0xffffff) / 2 ** 24)
    expect(first.map((x) => x.toFixed(4))).toEqual(['0.8823', '0.9150', '0.3829', '0.9593', '0.3904'])
  })

  it('draws like numpy.random.seed(42); numpy.random.choice(n, size)', () => {
    const rng = new Mt19937(42)
    expect(Array.from({ length: 10 }, () => rng.below(4))).toEqual(NUMPY_CHOICE_5)
  })
})

const NUMPY_CHOICE_5 = [3, 4, 2, 4, 4, 1, 2, 2, 2, 4]
