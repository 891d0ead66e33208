import { describe, expect, it } from 'vitest'
import { runsOf } from './grid.js'
import { sweepSchema } from './spec.js'

const of = (given: object) => runsOf(sweepSchema.parse(given))

describe('the runs of a sweep', () => {
  it('are every arm with every cell of the grid and every seed', () => {
    const runs = of({
      config: 'base.yaml',
      set: { 'buffer.batch_size': 4 },
      arms: { a: null, b: { config: 'b.yaml', set: { mode: 'both' } } },
      grid: { 'algorithm.optimizer.lr': [1e-4, 0.5], 'x.name': ['p q'] },
      seeds: [1, 2],
    })
    expect(runs).toHaveLength(8)
    expect(runs[0]).toEqual({
      id: 'a-lr_1e-4-name_p-q-seed_1',
      arm: 'a lr=1e-4 name=p q',
      seed: 1,
      file: 'base.yaml',
      set: ['buffer.batch_size=4', 'algorithm.optimizer.lr=0.0001', 'x.name="p q"'],
    })
    expect(runs[7]).toMatchObject({ id: 'b-lr_0.5-name_p-q-seed_2', file: 'b.yaml' })
    expect(runs[7].set).toContain('mode=both')
    expect(new Set(runs.map(({ arm }) => arm)).size).toBe(4)
  })

  it('without arms, grid and seeds are the configuration itself', () => {
    expect(of({ config: 'some/grpo.yaml' })).toEqual([
      { id: 'grpo', arm: 'grpo', seed: undefined, file: 'some/grpo.yaml', set: [] },
    ])
  })

  it('have names by as many words of a key as tell keys apart', () => {
    const [{ id }] = of({ config: 'c.yaml', grid: { 'a.x.lr': [1], 'b.x.lr': [2] } })
    expect(id).toBe('c-a.x.lr_1-b.x.lr_2')
  })

  it('need names that differ, and an end', () => {
    expect(() => of({ config: 'c.yaml', grid: { k: ['a b', 'a-b'] } })).toThrow("two runs would be called 'c-k_a-b'")
    const many = Array.from({ length: 40 }, (_, i) => i)
    expect(() => of({ config: 'c.yaml', grid: { a: many, b: many } })).toThrow('the grid has 1600 runs')
  })
})
