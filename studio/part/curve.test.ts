import { describe, expect, it } from 'vitest'
import { type ChartView, type Curve, tableOf } from './curve.js'
import { rangeOf, spaced } from './range.js'

const view: ChartView = { smooth: 0, isLog: false, axis: 'step' }
const curve = (label: string, step: number[], y: (number | null)[], isSparse = false): Curve => ({
  ...{ label, step, y, isSparse, colorIndex: 0 },
  time: step.map((at) => 1000 + at * 10),
})

describe('curves in one chart', () => {
  const curves = [curve('a', [1, 2, 3], [1, 2, 3]), curve('b', [2, 4], [20, 40], true)]

  it('share one axis', () => {
    const { data } = tableOf(curves, view)
    expect(data).toEqual([
      [1, 2, 3, 4],
      [null, 20, null, 40],
      [1, 2, 3, null],
    ])
  })

  it('are read where the cursor is: an evaluation holds until the next', () => {
    const table = tableOf(curves, view)
    expect([0, 1, 2, 3].map((at) => table.valueAt(1, at))).toEqual([undefined, 20, 20, 40])
    expect(table.last).toEqual([3, 40])
    expect(table.xLabel(3)).toBe('step 4')
  })

  it('have their raw lines behind the smoothed ones, and evaluations are not smoothed', () => {
    const { data } = tableOf(curves, { ...view, smooth: 0.5 })
    expect(data).toHaveLength(5)
    expect(data[2]).not.toEqual(data[4])
    expect(data[1]).toEqual(data[3])
  })

  it('lose what a log axis cannot show', () => {
    expect(tableOf([curve('a', [1, 2, 3], [-1, 0, 5])], { ...view, isLog: true }).data[1]).toEqual([null, null, 5])
  })

  it('count time from their begin', () => {
    expect(tableOf([curve('a', [1, 2], [1, 1])], { ...view, axis: 'time' }).data[0]).toEqual([0, 10])
  })

  it('may be none', () => expect(tableOf([], view).data).toEqual([[]]))
})

describe('what a chart shows', () => {
  it('is the zoom, else everything', () => {
    expect(rangeOf({ ...view, from: 5, to: 9 }, 0, 100)).toEqual([5, 9])
    expect(rangeOf(view, 0, 100)).toEqual([0, 100])
    expect(rangeOf(view, 3, 3)).toEqual([2.5, 3.5])
  })

  it('has room above, and none below 0 without need', () => {
    expect(spaced(0, 100)).toEqual([0, 108])
    expect(spaced(-100, 0)).toEqual([-108, 8])
    expect(spaced(0, 0)).toEqual([0, 1])
    expect(spaced(null, null)).toEqual([0, 1])
    expect(spaced(10, 10)).toEqual([9, 11])
  })
})
