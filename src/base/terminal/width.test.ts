import { describe, expect, it } from 'vitest'
import { beginning, cutTo, endOf, padTo, widthOf } from './width.js'

describe('columns of a text', () => {
  it.each([
    ['', 0],
    ['plain', 5],
    ['é', 1],
    ['e\u0301', 1],
    ['日本語', 6],
    ['한글', 4],
    ['ｆｕ', 4],
    ['👍🏽', 4],
    ['→ …', 3],
    ['▁█', 2],
    ['𠀀', 2],
  ])('%s: %i', (text, width) => {
    expect(widthOf(text)).toBe(width)
  })
})

it('a cut text fits, and no character is cut', () => {
  expect(cutTo('日本語', 6)).toBe('日本語')
  expect(cutTo('日本語', 5)).toBe('日本…')
  expect(cutTo('日本語', 4)).toBe('日…')
  expect(endOf('a/日本語', 5)).toBe('…本語')
  expect(beginning('👍👍', 3)).toBe('👍')
  expect(padTo('日', 4)).toBe('日  ')
})
