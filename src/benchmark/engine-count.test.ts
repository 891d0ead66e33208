import { describe, expect, it } from 'vitest'
import { engineCount } from './engine-count.js'

const eight = { nodes: 1, gpusPerNode: 8, parallelSize: 1, ratio: 0.6 }

describe('engines for a cluster', () => {
  it.each([
    ['gsm8k', 96 * 8, 2],
    ['countdown', 96 * 5, 3],
    ['guru_math', 60 * 16, 3],
    ['alfworld', 32 * 8, 4],
    ['frozenlake', 64 * 8, 4],
  ])('divides eight GPUs for %s by the batch and the ratio', (_, batch, engines) => {
    expect(engineCount({ ...eight, batch })).toBe(engines)
  })

  it('divides several nodes as wholes, with the GPUs of an engine together', () => {
    expect(engineCount({ nodes: 4, gpusPerNode: 8, parallelSize: 2, ratio: 0.6, batch: 768 })).toBe(8)
  })

  it('shares one GPU, and needs none', () => {
    expect(engineCount({ ...eight, gpusPerNode: 1, batch: 7 })).toBe(1)
    expect(engineCount({ ...eight, gpusPerNode: 0, batch: 7 })).toBe(1)
  })

  it('says what to change where there is no division', () => {
    expect(() => engineCount({ ...eight, gpusPerNode: 3, parallelSize: 4, batch: 8 })).toThrow(/cannot be divided/)
  })
})
