import { expect, it } from 'vitest'
import { collect } from './collect.js'

it('keeps what was given before', () => {
  expect(collect('b', collect('a'))).toEqual(['a', 'b'])
})
