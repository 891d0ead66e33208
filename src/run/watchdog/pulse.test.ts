import { expect, it } from 'vitest'
import { LOOK_MS, Pulse } from './pulse.js'

it('counts looks without a beat, and begins anew with each beat', () => {
  const pulse = new Pulse()
  expect([1, 1, 1, 2, 2].map((beats) => pulse.look(beats))).toEqual([0, LOOK_MS, 2 * LOOK_MS, 0, LOOK_MS])
})
