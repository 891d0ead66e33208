import { expect, it } from 'vitest'
import { decodeForwardBackward, encodeForwardBackward } from './forward-backward.js'
import { decodeSample } from './sample.js'

/** Bytes that the official client (tinker 0.25.0) makes of the same request, and of the same answers. */
const REQUEST =
  '0a076d6f64656c5f3110ac021a640a100a0e0a0c0100000040010000ff18000012300a0d7461726765745f746f6b656e73121f0a18400100' +
  '0000000000ff1800000000000002000000000000001802220103121e0a077765696768747312130a0c000000000000c0bf0000803e180122' +
  '01031a640a100a0e0a0c0100000040010000ff18000012300a0d7461726765745f746f6b656e73121f0a184001000000000000ff18000000' +
  '00000002000000000000001802220103121e0a077765696768747312130a0c000000000000c0bf0000803e1801220103220d63726f73735f' +
  '656e74726f7079'
const OUTPUT =
  '0a067363616c6172128a0112460a10656c656d656e74776973655f6c6f737312320a14000000c0000080c0000080bf0000c0c0000000bf12' +
  '1800000000000000000c0000000000000014000000000000001801123e0a086c6f6770726f627312320a14000080bf000000c0000000bf00' +
  '0040c0000080be121800000000000000000c000000000000001400000000000000180118021a130a086c6f73733a73756d11000000000000' +
  '1b40'
const SAMPLE =
  '0a160801120805000000ff1800001a08000000bf000000c00a0c1204020000001a04000000be120c0000c07f000080bf000080c020c801'

it('a pass is written as the official client writes it', () => {
  const datum = {
    tokens: Int32Array.of(1, 320, 6399),
    targets: Int32Array.of(320, 6399, 2),
    inputs: { weights: Float32Array.of(0, -1.5, 0.25) },
  }
  const request = { modelId: 'model_1', seqId: 300, data: [datum, datum], lossFn: 'cross_entropy' }
  expect(Buffer.from(encodeForwardBackward({ ...request, forwardOnly: false })).toString('hex')).toBe(REQUEST)
  expect(Buffer.from(encodeForwardBackward({ ...request, forwardOnly: true })).toString('hex')).toBe(`${REQUEST}3001`)
})

it('its log-probs and metrics are read', () => {
  const { logprobs, metrics } = decodeForwardBackward(Buffer.from(OUTPUT, 'hex'))
  expect(logprobs.map((row) => [...row])).toEqual([
    [-1, -2, -0.5],
    [-3, -0.25],
  ])
  expect(metrics).toEqual({ 'loss:sum': 6.75 })
})

it('samples are read', () => {
  const { sequences, promptLogprobs, cachedTokens } = decodeSample(Buffer.from(SAMPLE, 'hex'))
  expect(sequences).toEqual([
    { tokens: Int32Array.of(5, 6399), logprobs: Float32Array.of(-0.5, -2), stop: 'length' },
    { tokens: Int32Array.of(2), logprobs: Float32Array.of(-0.125), stop: 'stop' },
  ])
  expect(promptLogprobs).toEqual(Float32Array.of(Number.NaN, -1, -4))
  expect(cachedTokens).toBe(200)
})

it('log-probs of places that are not there are an error', () => {
  const wrong = OUTPUT.replace('0c0000000000000014', '0c0000000000000015')
  const twice = OUTPUT.replaceAll('0c0000000000000014', '0c0000000000000015')
  expect(() => decodeForwardBackward(Buffer.from(twice, 'hex'))).toThrowError(/to 21 of 20/)
  expect(decodeForwardBackward(Buffer.from(wrong, 'hex')).logprobs).toHaveLength(2)
})
