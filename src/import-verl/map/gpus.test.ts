import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitGpus } from './gpus.js'
import { splitPools } from './pools.js'

const demand = {
  nodes: 1,
  gpusPerNode: 8,
  tensorParallel: 1,
  otherParallel: 1,
  auxiliary: [] as number[],
  trainerMultiple: 1,
}

describe('splitting GPUs', () => {
  it('gives the split of the two documented examples', () => {
    expect(splitGpus({ ...demand, auxiliary: [1] })).toMatchObject({ engines: 2, auxiliary: [2], trainer: 4 })
    expect(splitGpus({ ...demand, tensorParallel: 2 })).toMatchObject({ engines: 1, tensorParallel: 2, trainer: 6 })
  })

  it('leaves whole nodes to the trainer', () => {
    expect(splitGpus({ ...demand, nodes: 2, tensorParallel: 2 })).toMatchObject({ engines: 4, trainer: 8 })
    expect(splitGpus({ ...demand, nodes: 16, tensorParallel: 4, trainerMultiple: 8 })).toMatchObject({
      engines: 8,
      trainer: 96,
    })
    expect(splitGpus({ ...demand, nodes: 32, tensorParallel: 32 })).toMatchObject({
      engines: 2,
      tensorParallel: 32,
      trainer: 192,
    })
  })

  it('makes engines smaller before it gives up, and shares a single GPU', () => {
    expect(splitGpus({ ...demand, tensorParallel: 8 })).toMatchObject({ engines: 1, tensorParallel: 4, trainer: 4 })
    expect(splitGpus({ ...demand, gpusPerNode: 2, tensorParallel: 2, auxiliary: [1] })).toMatchObject({
      tensorParallel: 1,
      auxiliary: [],
      trainer: 1,
    })
    expect(splitGpus({ ...demand, gpusPerNode: 1, tensorParallel: 2 })).toMatchObject({
      colocate: true,
      engines: 1,
      tensorParallel: 1,
    })
  })

  it('always fits, whatever is asked for', () => {
    const size = fc.integer({ min: 1, max: 40 })
    fc.assert(
      fc.property(
        size,
        fc.integer({ min: 1, max: 16 }),
        size,
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.integer({ min: 1, max: 8 }), { maxLength: 3 }),
        size,
        (nodes, gpusPerNode, tensorParallel, otherParallel, auxiliary, trainerMultiple) => {
          const split = splitGpus({ nodes, gpusPerNode, tensorParallel, otherParallel, auxiliary, trainerMultiple })
          expect(split.colocate).toBe(nodes * gpusPerNode === 1)
          if (split.colocate) return
          const used = split.auxiliary.reduce(
            (sum, engines, i) => sum + engines * auxiliary[i],
            split.engines * split.tensorParallel * split.otherParallel,
          )
          expect(used + split.trainer).toBe(nodes * gpusPerNode)
          if (split.trainer > gpusPerNode) expect(split.trainer % gpusPerNode).toBe(0)
          expect(
            Math.min(split.engines, split.trainer, split.tensorParallel, ...split.auxiliary),
          ).toBeGreaterThanOrEqual(1)
          expect(tensorParallel % split.tensorParallel).toBe(0)
        },
      ),
    )
  })

  it('follows the pools of a script that has them', () => {
    expect(
      splitPools({ ...demand, gpusPerNode: 6, tensorParallel: 2 }, { nodes: 1, gpusPerNode: 2 }, []),
    ).toMatchObject({ nodes: 1, gpusPerNode: 8, split: { engines: 1, trainer: 6 } })
    const judge = { tensorParallel: 2, pool: { nodes: 1, gpusPerNode: 8 } }
    expect(splitPools({ ...demand, nodes: 2, auxiliary: [2] }, undefined, [judge])).toMatchObject({
      nodes: 3,
      split: { engines: 8, trainer: 8, auxiliary: [4] },
    })
    expect(splitPools(demand, undefined, [{ tensorParallel: 1 }])).toBeUndefined()
  })
})
