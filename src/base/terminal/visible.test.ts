import fc from 'fast-check'
import { expect, it } from 'vitest'
import { visible, visibleLine } from './visible.js'

it.each([
  ['red \x1b[31m', 'red ␛[31m'],
  ['a\tb\nc\r\nd\r', 'a    b\nc\nd␍'],
  ['bell\x07 null\x00 delete\x7f', 'bell␇ null␀ delete␡'],
  ['\x9b2J', '\\u{9b}2J'],
  ['\u202eevil', '\\u{202e}evil'],
  ['\ud800', '\\u{d800}'],
  ['👩\u200d💻', '👩\\u{200d}💻'],
  ['❤\ufe0f', '❤'],
  [`z${'\u0301'.repeat(50)}`, `z${'\u0301'.repeat(4)}`],
  ['日本語 é', '日本語 é'],
])('%j: %j', (text, shown) => {
  expect(visible(text)).toBe(shown)
})

it('one line, whatever there is in it', () => {
  expect(visibleLine('  a\n\n b\r\nc\u2028d ')).toBe('a ⏎ b ⏎ c\\u{2028}d')
  const obeyed = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u
  const text = fc.array(fc.nat(0x10ffff)).map((codes) => String.fromCodePoint(...codes))
  fc.assert(fc.property(text, (any) => !obeyed.test(visibleLine(any))))
})
