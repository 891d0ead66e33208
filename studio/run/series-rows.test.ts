import { describe, expect, it } from 'vitest'
import type { Series } from '../../src/studio/api.js'
import { withRows } from './series-rows.js'

const series: Series = { name: 'a', role: 'trainer', step: [1, 2], time: [10, 20], y: [0.1, 0.2], odd: [], count: 2 }

describe('a series that goes on', () => {
  it('gets new steps at its end', () => {
    expect(withRows(series, [{ step: 3, time: 30, metrics: { a: 0.3 } }])).toMatchObject({
      step: [1, 2, 3],
      y: [0.1, 0.2, 0.3],
      count: 3,
    })
  })
  it('replaces a step that came again, and fills one in between', () => {
    const rows = [
      { step: 2, time: 21, metrics: { a: 7 } },
      { step: 0, time: 5, metrics: { a: 9 } },
    ]
    expect(withRows(series, rows)).toMatchObject({ step: [0, 1, 2], time: [5, 10, 21], y: [9, 0.1, 7], count: 3 })
  })
  it('has a gap where a number is not finite', () => {
    expect(withRows(series, [{ step: 3, time: 30, metrics: { a: 'NaN' } }]).y).toEqual([0.1, 0.2, null])
  })
  it('is the same object when the rows do not have it', () => {
    expect(withRows(series, [{ step: 3, time: 30, metrics: { b: 1 } }])).toBe(series)
  })
})
