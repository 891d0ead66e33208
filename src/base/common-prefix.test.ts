import { expect, it } from 'vitest'
import { commonPrefix } from './common-prefix.js'

it('counts what two sequences begin with', () => {
  const of = (a: number[], b: number[]) => commonPrefix(Int32Array.from(a), Int32Array.from(b))
  expect([of([], [1]), of([1, 2, 3], [1, 2, 4]), of([1, 2], [1, 2, 3]), of([2], [1])]).toEqual([0, 2, 2, 0])
})
