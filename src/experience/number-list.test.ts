import fc from 'fast-check'
import { expect, it } from 'vitest'
import { numberIn } from './fields.js'
import { listText } from './number-list.js'

const back = (text: string) => (JSON.parse(text) as unknown[]).map((value) => numberIn(value))

it('integers are written as they are', () => {
  const edges = Int32Array.of(0, 1, -1, 9, 10, 99, 100, 2147483647, -2147483647, -2147483648)
  expect(listText(edges)).toBe(`[${edges.join(',')}]`)
  fc.assert(fc.property(fc.int32Array(), (data) => listText(data) === `[${data.join(',')}]`))
  fc.assert(fc.property(fc.uint8Array(), (data) => listText(data) === `[${data.join(',')}]`))
  expect(listText(new Int32Array())).toBe('[]')
})

it('floats come back as the same float32, whatever their bits are', () => {
  const same = (data: Float32Array) => {
    const found = back(listText(data))
    return found.length === data.length && found.every((value, i) => Object.is(Math.fround(value as number), data[i]))
  }
  expect(same(Float32Array.of(0, -0, 1, -1, 1e-45, 3.4e38, Number.NaN, Infinity, -Infinity, 0.001, 999.99994))).toBe(
    true,
  )
  fc.assert(fc.property(fc.float32Array(), same), { numRuns: 500 })
  // what log-probs and advantages look like
  const near = fc
    .array(fc.double({ min: -20, max: 20, noNaN: true }), { maxLength: 300 })
    .map((a) => Float32Array.from(a))
  fc.assert(fc.property(near, same), { numRuns: 500 })
})

it('is short', () => {
  expect(listText(Float32Array.of(0.1, -2.5, 3, 0.333333343, 100.25))).toBe('[0.1,-2.5,3,0.33333334,100.25]')
  expect(listText(new Float32Array(4).fill(-1.25))).toBe('[-1.25,-1.25,-1.25,-1.25]')
})

it('lists may be long', () => {
  const data = Float32Array.from({ length: 100_000 }, (_, i) => Math.sin(i) * 12)
  expect(back(listText(data)).map((value) => Math.fround(value as number))).toEqual([...data])
})
