import { expect, it } from 'vitest'
import { mostOf } from './reward.js'

it('a bar is full at the greatest reward, and a table of small ones has short bars', () => {
  expect(mostOf([{ reward: 0.1 }, {}, { reward: 'NaN' }])).toBe(1)
  expect(mostOf([{ reward: 3 }, { reward: -7 }])).toBe(7)
})
