import { expect, it } from 'vitest'
import { curve } from './curve.js'

it('goes from an eighth of a line to all of its lines', () => {
  expect(curve([0, 1, 2, 3, 4, 5, 6, 7])).toEqual(['▁▂▃▄▅▆▇█'])
  expect(curve([0, 7.5, 15], 2)).toEqual([' ▁█', '▁██'])
  expect(curve([3, 3])).toEqual(['▁▁'])
})

it('shows little where little changes', () => {
  expect(curve([1000, 1002, 1000, 1001])).toEqual(['▄▅▄▅'])
})
