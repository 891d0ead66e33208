import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { shownRows } from './window.js'

describe('rows that are drawn', () => {
  it('are those in sight and some around them', () => {
    expect(shownRows(1000, 20, 2000, 400, 5)).toEqual({ first: 95, end: 125 })
    expect(shownRows(1_000_000, 20, 0, 400, 5)).toEqual({ first: 0, end: 25 })
  })

  it('cover the viewport, are inside the list, and few', () => {
    const sizes = fc.record({
      count: fc.nat(2_000_000),
      height: fc.integer({ min: 1, max: 100 }),
      viewport: fc.nat(3000),
    })
    fc.assert(
      fc.property(sizes, fc.double({ min: 0, max: 2, noNaN: true }), ({ count, height, viewport }, share) => {
        const top = share * count * height
        const { first, end } = shownRows(count, height, top, viewport)
        expect(first).toBeGreaterThanOrEqual(0)
        expect(first).toBeLessThanOrEqual(end)
        expect(end).toBeLessThanOrEqual(count)
        expect(end - first).toBeLessThanOrEqual(Math.ceil(viewport / height) + 22)
        const inSight = Math.floor(top / height)
        if (inSight < count) expect(first <= inSight && inSight <= end).toBe(true)
      }),
    )
  })
})
