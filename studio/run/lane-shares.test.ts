import { expect, it } from 'vitest'
import { laneShares } from './lane-shares.js'
import { markDistance, TimeScale } from './timeline-drawing.js'

it('counts only what is inside the range', () => {
  const spans = [
    { begin: 0, end: 10, kind: 'work' as const, label: 'step' },
    { begin: 10, end: 30, kind: 'wait' as const, label: 'experiences' },
  ]
  const [{ seconds, total }] = laneShares([{ name: 'trainer', kind: 'trainer', spans }], 5, 25)
  expect([seconds.work, seconds.wait, total]).toEqual([5, 15, 20])
})

it('says for whom a lane waits, and takes no bundle of short spans for a long one', () => {
  const wait = (begin: number, end: number, label: string) => ({ begin, end, kind: 'wait' as const, label })
  const spans = [wait(0, 1, 'weights'), wait(1, 4, 'experiences'), { ...wait(4, 8, 'weights'), merged: 9, seconds: 1 }]
  const [{ seconds, waits }] = laneShares([{ name: 'trainer', kind: 'trainer', spans }], 0, 8)
  expect(seconds.wait).toBe(5)
  expect(waits).toEqual([
    { label: 'experiences', seconds: 3 },
    { label: 'weights', seconds: 2 },
  ])
})

it('marks are at round distances, and not more than fit', () => {
  expect(markDistance(60, 10)).toBe(10)
  expect(markDistance(3600, 8)).toBe(600)
  expect(markDistance(0.3, 10)).toBe(0.05)
})

it('a scale goes both ways', () => {
  const scale = new TimeScale(100, 200, 120, 1120)
  expect(scale.x(150)).toBe(620)
  expect(scale.time(scale.x(137))).toBeCloseTo(137, 9)
})
