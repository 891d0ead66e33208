import { describe, expect, it } from 'vitest'
import { Distinct } from './distinct.js'

describe('scores that rows have in common', () => {
  const asked = {
    rows: Int32Array.of(4, 5, 4, 4, 5, 4),
    targets: Int32Array.of(1, 2, 1, 3, 2, 1),
    invT: Float32Array.of(1, 1, 1, 1, 2, 1),
    others: [Int32Array.of(7, 7, 7, 7, 7, 7), Int32Array.of(0, 0, 0, 0, 0, 9)],
  }

  it('are taken once: the same token at the same place and temperature, with the same others', () => {
    const distinct = new Distinct(asked, 6)
    expect(distinct.pick(asked.rows)).toEqual(Int32Array.of(4, 5, 4, 5, 4))
    expect(distinct.pick(asked.targets)).toEqual(Int32Array.of(1, 2, 3, 2, 1))
    expect(distinct.pick(asked.invT)).toEqual(Float32Array.of(1, 1, 1, 2, 1))
    expect(distinct.deal(Float32Array.of(10, 20, 30, 40, 50))).toEqual(Float32Array.of(10, 20, 10, 30, 40, 50))
    expect(distinct.sum(Float32Array.of(1, 2, 4, 8, 16, 32))).toEqual(Float32Array.of(5, 2, 8, 16, 32))
  })

  it('cost nothing where there are none', () => {
    const distinct = new Distinct({ ...asked, rows: Int32Array.of(0, 1, 2, 3, 4, 5) }, 6)
    const grads = new Float32Array(6)
    expect(distinct.sum(grads)).toBe(grads)
    expect(distinct.deal(grads)).toBe(grads)
    expect(distinct.pick(asked.targets)).toBe(asked.targets)
  })
})
