import { expect, it } from 'vitest'
import { csvOf } from './csv.js'

it('a table has every step once, in order, and gaps where a series has none', () => {
  const text = csvOf([
    { name: 'a', step: [1, 3], time: [10, 30], y: [0.5, null] },
    { name: 'b, "c"', step: [2, 3], time: [20, 30], y: [7, 8] },
  ])
  expect(text).toBe('step,time,a,"b, ""c"""\n1,10,0.5,\n2,20,,7\n3,30,,8\n')
})
