import { describe, expect, it } from 'vitest'
import { smooth } from './smooth.js'

describe('smoothing', () => {
  it('changes nothing with weight 0', () => expect(smooth([1, null, 3], 0)).toEqual([1, null, 3]))
  it('keeps a constant, from its first value on', () => {
    for (const value of smooth([2, 2, 2, 2], 0.9)) expect(value).toBeCloseTo(2, 12)
  })
  it('is the weighted mean of what came before', () => {
    // weights ½ and ¼ of 4 and 0, over their sum
    expect(smooth([0, 4], 0.5)[1]).toBeCloseTo((0.5 * 4) / 0.75, 12)
  })
  it('passes over gaps', () => {
    const [, gap, after] = smooth([0, null, 4], 0.5)
    expect(gap).toBeNull()
    expect(after).toBeCloseTo(smooth([0, 4], 0.5)[1]!, 12)
  })
})
