import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TextGate } from './text-gate.js'

describe('TextGate', () => {
  it('shows nothing of a mark and loses nothing, however the text is cut', () => {
    const pieces = fc.array(fc.constantFrom('<', '<stop', '>', 'a', 'END', 'E', ' '), { maxLength: 12 })
    fc.assert(
      fc.property(pieces, (parts) => {
        const gate = new TextGate(['<stop>', 'END', ''])
        const shown = parts.map((part) => gate.push(part)).join('')
        expect(/<stop>|END/.test(shown)).toBe(false)
        expect(shown + gate.end()).toBe(parts.join(''))
      }),
    )
  })

  it('holds no more back than it must', () => {
    const gate = new TextGate(['<stop>'])
    expect([gate.push('a<'), gate.push('b<st'), gate.push('op')]).toEqual(['a', '<b', ''])
  })
})
