import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { asFloats, parseNumbers, stringifyNumbers } from './json-numbers.js'

const text = `{
  "cap": 50.0,
  "eps": 1e-05,
  "theta": 1E6,
  "zero": -0.0,
  "plain": 3,
  "longest": 1000000000000000019884624838656,
  "text": "cap 50.0 \\"1e-05",
  "within": {
    "factors": [
      1.0,
      2,
      2.50
    ],
    "empty": {},
    "none": []
  }
}`

describe('parseNumbers and stringifyNumbers', () => {
  it('keeps the spelling of every number', () => {
    expect(stringifyNumbers(parseNumbers(text))).toBe(text)
  })

  it('parses numbers as JSON.parse does', () => {
    const { cap, eps, within } = parseNumbers(text) as { cap: number; eps: number; within: { factors: number[] } }
    expect([cap, eps, ...within.factors]).toEqual([50, 0.00001, 1, 2, 2.5])
  })

  it('keeps the spelling in copies, and drops that of replaced numbers', () => {
    const { plain: _, ...rest } = parseNumbers('{"a": 1.0, "b": 2.0, "plain": 3}') as Record<string, number>
    expect(JSON.parse(JSON.stringify(rest))).toEqual({ a: 1, b: 2 })
    expect(stringifyNumbers({ ...rest, b: 4 })).toBe('{\n  "a": 1.0,\n  "b": 4\n}')
  })

  it('writes other JSON like JSON.stringify', () => {
    const values = fc.jsonValue({ stringUnit: 'grapheme' })
    fc.assert(
      fc.property(values, fc.constantFrom(0, 2), (value, indent) => {
        const json = JSON.stringify({ value }, null, indent)
        expect(parseNumbers(json)).toEqual(JSON.parse(json))
        const spelled = stringifyNumbers(parseNumbers(`{"value":${JSON.stringify(value)},"one":1.0}`))
        expect(spelled).toBe(JSON.stringify({ value, one: 1 }, null, 2).replace(/1\n\}$/, '1.0\n}'))
      }),
      { numRuns: 300 },
    )
  })

  it('leaves text that looks like its marks alone', () => {
    const json = '{\n  "a": 1.0,\n  "number:0": "number:0",\n  "b": "_number:0",\n  "__proto__": 2.0\n}'
    expect(stringifyNumbers(parseNumbers(json))).toBe(json)
  })

  it('refuses what is not JSON', () => {
    for (const bad of ['{"a": 01.0}', '{"a": 1.}', '[1.0', '']) expect(() => parseNumbers(bad)).toThrow('JSON')
  })
})

describe('asFloats', () => {
  it('writes whole numbers under the given keys as floats', () => {
    const value = { cap: 50, size: 50, inner: { cap: 2.5, list: [1, 1.5, [3]] }, cap2: null }
    expect(JSON.parse(JSON.stringify(asFloats(value, new Set(['cap', 'list']))))).toEqual(value)
    expect(stringifyNumbers(asFloats(value, new Set(['cap', 'list']))).replace(/\s+/g, '')).toBe(
      '{"cap":50.0,"size":50,"inner":{"cap":2.5,"list":[1.0,1.5,[3.0]]},"cap2":null}',
    )
  })

  it('keeps floats as they are spelled', () => {
    const value = asFloats(parseNumbers('{"a": 1e6, "b": 2.00, "c": 1.0}'), new Set(['a', 'b']))
    expect(stringifyNumbers(value).replace(/\s+/g, '')).toBe('{"a":1e6,"b":2.00,"c":1.0}')
  })
})
