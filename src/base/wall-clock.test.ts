import { expect, it } from 'vitest'
import { wallClock } from './wall-clock.js'

it('writes local time by which names can be sorted', () => {
  const time = new Date(2026, 0, 2, 3, 4, 5)
  expect(wallClock(time)).toBe('20260102030405')
  expect(wallClock(time, '-')).toBe('20260102-030405')
})
