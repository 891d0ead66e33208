import { expect, it } from 'vitest'
import type { Experience } from './experience.js'
import { extremes } from './extremes.js'

const rewarded = (...rewards: (number | undefined)[]) => rewards.map((reward) => ({ reward }) as Experience)

it.each([
  [
    [0.5, 0, undefined, 2, 0],
    [0, 2],
  ],
  [[1, 1], [1]],
  [[undefined, undefined], [undefined]],
  [[], []],
])('of %j: %j', (rewards, kept) => {
  expect(extremes(rewarded(...rewards)).map(({ reward }) => reward)).toEqual(kept)
})
