import { expect, it } from 'vitest'
import { jsonIn } from './json-text.js'

it('reads JSON, and nothing else', () => {
  expect(['{"a": [1]}', '0', 'null', '', '{', 'so'].map(jsonIn)).toEqual([
    { a: [1] },
    0,
    null,
    undefined,
    undefined,
    undefined,
  ])
})
