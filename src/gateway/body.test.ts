import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseBody } from './body.js'

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

describe('bodies', () => {
  it('are what JSON.parse says, down to the allowed depth', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 })), (value) => {
        const bytes = Buffer.from(JSON.stringify(value))
        const depth = depthOf(value)
        expect(parseBody(bytes, depth)).toEqual(JSON.parse(bytes.toString()))
        if (depth > 1) expect(() => parseBody(bytes, depth - 1)).toThrow('deeper')
      }),
      { numRuns: 300 },
    )
  })

  it('must be objects in UTF-8', () => {
    for (const text of ['', 'null', '[]', '"a"', '{', '{"a":1}x']) {
      expect(() => parseBody(Buffer.from(text), 9)).toThrow(expect.objectContaining({ code: 'gateway/json' }))
    }
    expect(() => parseBody(Buffer.from('7b2261223a22ff227d', 'hex'), 9)).toThrow('not JSON')
  })
})
