import { expect, it } from 'vitest'
import { RunOver, Stop } from './stop.js'

it('a request is gentle, and to force is both', () => {
  const stop = new Stop()
  expect([stop.gentle.aborted, stop.now.aborted]).toEqual([false, false])
  stop.request()
  expect([stop.gentle.aborted, stop.now.aborted]).toEqual([true, false])
  stop.force()
  expect(stop.now.aborted).toBe(true)
  expect(stop.now.reason).toBeInstanceOf(RunOver)
  // the first reason stays
  expect(stop.gentle.reason.message).toContain('asked')
})
