import { expect, it } from 'vitest'
import { columns } from './columns.js'

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

it('wide characters take two columns', () => {
  const lines = columns(
    [
      { title: '一', text: '日本語' },
      { title: 'b', text: 'x' },
    ],
    35,
  ).split('\n')
  expect(lines.map((line) => line.replaceAll(/\s+/g, ' '))).toEqual([
    '一 b',
    lines[1].replaceAll(/\s+/g, ' '),
    '日本語 x',
  ])
  expect(lines[2]).toBe('日本語             x')
})
