import fc from 'fast-check'
import { expect, it } from 'vitest'
import { hunks, lineDiff } from './line-diff.js'

const signs = { same: ' ', gone: '-', new: '+' }

it('keeps what stays, and shows a few lines around what does not', () => {
  const before = ['a', 'b', 'c', 'd', 'e', 'f']
  const diff = lineDiff(before, ['a', 'x', 'c', 'd', 'e', 'f', 'g'])
  expect(diff.map(({ kind, text }) => signs[kind] + text)).toEqual([' a', '-b', '+x', ' c', ' d', ' e', ' f', '+g'])
  const shown = hunks(diff, 1).map((line) => (line ? signs[line.kind] + line.text : '…'))
  expect(shown).toEqual([' a', '-b', '+x', ' c', '…', ' f', '+g'])
  expect(hunks(lineDiff(before, before))).toEqual([])
})

it('has every line of both texts, in order', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 })
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const diff = lineDiff(before, after)
      const of = (without: string) => diff.filter(({ kind }) => kind !== without).map(({ text }) => text)
      expect([of('new'), of('gone')]).toEqual([before, after])
    }),
  )
})
