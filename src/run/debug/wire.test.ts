import { expect, it } from 'vitest'
import { fromWire, toWire } from './wire.js'

it('carries typed arrays and numbers that JSON has not', () => {
  const value = {
    tokens: Int32Array.of(1, -2),
    mask: Uint8Array.of(0, 1),
    logprobs: Float32Array.of(-0.5, Number.NEGATIVE_INFINITY, Number.NaN),
    nested: [{ text: 'ü', none: null, flag: false, list: [1, 2] }],
  }
  expect(fromWire(toWire(value))).toEqual(value)
})
