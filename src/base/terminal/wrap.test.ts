import fc from 'fast-check'
import { expect, it } from 'vitest'
import { widthOf } from './width.js'
import { wrap } from './wrap.js'

it('wrapping loses nothing but blanks, and no line is too wide', () => {
  const part = fc.constantFrom('a', 'bcd', 'efghijklmnop', ' ', '\n', '語', '`', '👍')
  const text = fc.array(part).map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, fc.integer({ min: 2, max: 12 }), (given, width) => {
      const lines = wrap(given, width)
      expect(lines.every((line) => widthOf(line) <= width)).toBe(true)
      expect(lines.join('').replaceAll(' ', '')).toBe(given.replaceAll(/[ \n]/g, ''))
    }),
  )
})

it('a command stays whole where it fits', () => {
  expect(wrap('look: `trinity log -l ERROR` shows why', 24)).toEqual(['look:', '`trinity log -l ERROR`', 'shows why'])
  expect(wrap('`trinity log -l ERROR`', 12)).toEqual(['`trinity log', '-l ERROR`'])
})
