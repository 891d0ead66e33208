import { expect, it } from 'vitest'
import { differences, flatten } from './flatten.js'

it('keys of all levels, lists as they are', () => {
  expect([...flatten({ a: { b: 1, c: {} }, d: [1, { e: 2 }] })]).toEqual([
    ['a.b', 1],
    ['a.c', {}],
    ['d', [1, { e: 2 }]],
  ])
})

it('shows what differs, also where a key is missing', () => {
  expect(
    differences([
      { a: 1, b: [1], c: 3 },
      { a: 2, b: [1] },
    ]),
  ).toEqual([
    { key: 'a', values: [1, 2] },
    { key: 'c', values: [3, undefined] },
  ])
})
