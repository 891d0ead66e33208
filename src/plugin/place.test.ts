import { describe, expect, it } from 'vitest'
import { placeInStack } from './place.js'

describe('placeInStack', () => {
  it('finds the first place in one of the folders', () => {
    const stack = 'Error: no\n    at f (node:fs:1:2)\n    at g (file:///p/a.ts:3:4)\n    at /p/b.mjs:5'
    expect(placeInStack(stack, ['/p/'])).toBe('/p/a.ts:3:4')
    expect(placeInStack(stack, ['/q/'])).toBeUndefined()
    expect(placeInStack('SyntaxError: /p/b.mjs:5: no', ['/p/'])).toBe('/p/b.mjs:5')
  })

  it('of an error with a message of megabytes as fast as of any other', () => {
    const stack = `Error: ${'x'.repeat(2_000_000)}\n    at g (/p/a.ts:3:4)`
    expect(placeInStack(stack, ['/p/'])).toBe('/p/a.ts:3:4')
  })
})
