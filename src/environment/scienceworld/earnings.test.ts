import { expect, it } from 'vitest'
import { Earnings, type RewardMode, roundHalfEven } from './earnings.js'

const worth = (mode: RewardMode, scores: readonly number[]) => {
  const earnings = new Earnings(mode)
  return scores.map((score) => earnings.add({ observation: '', score, isCompleted: false, moves: 0 }))
}

it('is the best score of the episode', () => {
  expect(worth('max_score', [0, 0.07, 0.4, 0.35, -1])).toEqual([
    { reward: 0, worth: 0, percent: 0 },
    { reward: 0.07, worth: 0.07, percent: 7 },
    { reward: 0.33, worth: 0.4, percent: 40 },
    { reward: -0.05, worth: 0.4, percent: 35 },
    { reward: -1.35, worth: 0.4, percent: -100 },
  ])
})

it("is the study's largest step", () => {
  expect(worth('max_delta', [0, 0.07, 0.4, 0.6, 1]).map((one) => one.worth)).toEqual([0, 0.07, 0.33, 0.33, 0.4])
  expect(worth('max_delta', [-1])[0].worth).toBe(0)
})

// round() of Python 3.11
it.each([
  [0.5, 0],
  [1.5, 2],
  [2.5, 2],
  [12.5, 12],
  [-0.5, 0],
  [-1.5, -2],
  [7.000000000000001, 7],
  [16.666666666666664, 17],
  [-100, -100],
])('%d rounds to %d', (value, rounded) => {
  expect(roundHalfEven(value) === rounded).toBe(true)
})
