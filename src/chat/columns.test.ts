import fc from 'fast-check'
import { expect, it } from 'vitest'
import { columns, wrap } from './columns.js'

it('texts stand side by side, wrapped at words', () => {
  const parts = [
    { title: 'one', text: 'a few words that are too long\nnext' },
    { title: 'a/path/that/is/long', text: 'short' },
  ]
  expect(columns(parts, 35).split('\n')).toEqual([
    'one                …th/that/is/long',
    '────────────────   ────────────────',
    'a few words that   short',
    'are too long',
    'next',
  ])
})

it('wrapping loses nothing but blanks, and no line is too wide', () => {
  const text = fc.array(fc.constantFrom('a', 'bcd', 'efghijklmnop', ' ', '\n')).map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 12 }), (given, width) => {
      const lines = wrap(given, width)
      expect(lines.every((line) => line.length <= width)).toBe(true)
      expect(lines.join('').replaceAll(' ', '')).toBe(given.replaceAll(/[ \n]/g, ''))
    }),
  )
})
