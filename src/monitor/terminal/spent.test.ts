import { expect, it } from 'vitest'
import { Spent } from './spent.js'

it('adds up phases of one kind, the largest first', () => {
  const spent = new Spent()
  spent.begin('step 1: 16 tasks', 0)
  spent.begin('after step 1: weights', 600)
  spent.begin('step 2: 16 tasks', 900)
  spent.begin('evaluation at step 2', 992)
  spent.begin('done', 1000)
  expect(spent.shares(5000)).toEqual([
    { kind: 'rollouts', share: 0.692 },
    { kind: 'waiting for weights', share: 0.3 },
  ])
})

it('counts what is still going on, once', () => {
  const spent = new Spent()
  expect(spent.shares(0)).toEqual([])
  spent.begin('step 1: training', 0)
  expect(spent.shares(0)).toEqual([])
  spent.shares(10)
  spent.begin('step 1: saving', 30)
  expect(spent.shares(40)).toEqual([
    { kind: 'training', share: 0.75 },
    { kind: 'saving', share: 0.25 },
  ])
})
