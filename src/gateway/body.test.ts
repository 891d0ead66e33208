import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseBody } from './body.js'

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

const LIMITS = { depth: 9, values: 1e6 }

describe('bodies', () => {
  it('are what JSON.parse says, down to the allowed depth', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 })), (value) => {
        const bytes = Buffer.from(JSON.stringify(value))
        const depth = depthOf(value)
        expect(parseBody(bytes, { depth, values: 1e6 })).toEqual(JSON.parse(bytes.toString()))
        if (depth > 1) expect(() => parseBody(bytes, { depth: depth - 1, values: 1e6 })).toThrow('deeper')
      }),
      { numRuns: 300 },
    )
  })

  it('hold no more values than allowed, commas in texts aside', () => {
    const parse = (value: object, values: number) => parseBody(Buffer.from(JSON.stringify(value)), { depth: 9, values })
    const numbers = { prompt: Array.from({ length: 100 }, (_, i) => i) }
    expect(parse(numbers, 102)).toEqual(numbers)
    expect(() => parse(numbers, 101)).toThrowError(expect.objectContaining({ code: 'gateway/too-large' }))
    expect(parse({ text: ',[{'.repeat(1000) }, 2)).toBeDefined()
  })

  it('must be objects in UTF-8', () => {
    for (const text of ['', 'null', '[]', '"a"', '{', '{"a":1}x']) {
      expect(() => parseBody(Buffer.from(text), LIMITS)).toThrow(expect.objectContaining({ code: 'gateway/json' }))
    }
    expect(() => parseBody(Buffer.from('7b2261223a22ff227d', 'hex'), LIMITS)).toThrow('not JSON')
  })
})
