import { expect, test } from 'vitest'
import { outsideToken } from './outside-token.js'

test('the first id outside, whichever side it is on', () => {
  expect(outsideToken(Int32Array.of(0, 1, 9), 10)).toBeUndefined()
  expect(outsideToken(Int32Array.of(), 10)).toBeUndefined()
  expect(outsideToken(Int32Array.of(3, 10, -1), 10)).toBe(10)
  expect(outsideToken(Int32Array.of(3, -1, 10), 10)).toBe(-1)
})
