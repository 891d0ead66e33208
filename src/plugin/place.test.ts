import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { placeInStack } from './place.js'

describe('placeInStack', () => {
  it('finds the first place in one of the folders', () => {
    const stack = 'Error: no\n    at f (node:fs:1:2)\n    at g (file:///p/a.ts:3:4)\n    at /p/b.mjs:5'
    expect(placeInStack(stack, ['/p/'])).toBe('/p/a.ts:3:4')
    expect(placeInStack(stack, ['/q/'])).toBeUndefined()
    expect(placeInStack('SyntaxError: /p/b.mjs:5: no', ['/p/'])).toBe('/p/b.mjs:5')
  })

  it('passes over packages that are installed there, this one too', () => {
    const dist = fileURLToPath(new URL('../../dist/', import.meta.url))
    const stack = [
      'Error: no',
      '    at wrong (file:///p/node_modules/trinity-rft/dist/dialect/wire.js:43:12)',
      `    at wrong (${dist}dialect/wire.js:43:12)`,
      '    at async ask (/p/agent.ts:7:3)',
    ]
    expect(placeInStack(stack.join('\n'), ['/p/', join(dist, '..', sep)])).toBe('/p/agent.ts:7:3')
    expect(placeInStack(stack.slice(0, 3).join('\n'), ['/p/', join(dist, '..', sep)])).toBeUndefined()
    const installed = '    at f (/p/node_modules/plugin/a.js:1:2)'
    expect(placeInStack(installed, ['/p/node_modules/plugin/'])).toBe('/p/node_modules/plugin/a.js:1:2')
  })

  it('of an error with a message of megabytes as fast as of any other', () => {
    const stack = `Error: ${'x'.repeat(2_000_000)}\n    at g (/p/a.ts:3:4)`
    expect(placeInStack(stack, ['/p/'])).toBe('/p/a.ts:3:4')
  })
})
