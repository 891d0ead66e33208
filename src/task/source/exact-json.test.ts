import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson } from './exact-json.js'

describe('JSON with exact numbers', () => {
  it('keeps the digits of integers that a double would change', () => {
    expect(parseJson('{"truth": 9007199254740993, "n": 9007199254740992}')).toEqual({
      truth: '9007199254740993',
      n: 9007199254740992,
    })
    expect(parseJson('[-9007199254740993,1e400, 12345678901234567890 ,0.1234567890123456789]')).toEqual([
      '-9007199254740993',
      '1e400',
      '12345678901234567890',
      0.12345678901234568,
    ])
  })

  it('leaves digits and words inside of text alone', () => {
    const text = String.raw`{"a\\": "9007199254740993 \" NaN 9007199254740993", "9007199254740993": 9007199254740993}`
    expect(parseJson(text)).toEqual({
      'a\\': '9007199254740993 " NaN 9007199254740993',
      '9007199254740993': '9007199254740993',
    })
  })

  it('reads what Python writes for numbers that are none', () => {
    expect(parseJson('{"a": NaN, "b": [Infinity, -Infinity, 9007199254740993], "c": "NaN"}')).toEqual({
      a: Number.NaN,
      b: [Infinity, -Infinity, '9007199254740993'],
      c: 'NaN',
    })
    expect(() => parseJson('{"a": nan}')).toThrow('JSON')
    expect(() => parseJson('{"a": NaNa}')).toThrow('JSON')
    expect(() => parseJson('{"a": NaN')).toThrow('JSON')
  })

  it('is JSON.parse otherwise', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'grapheme' }), fc.constantFrom(0, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        expect(parseJson(text)).toEqual(JSON.parse(text))
      }),
      { numRuns: 300 },
    )
  })
})
