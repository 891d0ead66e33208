import { expect, it } from 'vitest'
import { blockLimit, UnheardSignals } from './limit.js'

it('the limit is that of the longest rollout, between two seconds and a minute', () => {
  expect([[1], [5000, 9000], [1_800_000], []].map((all) => blockLimit(all))).toEqual([2000, 9000, 60_000, 2000])
})

it('SIGTERM and a second Ctrl-C make it shorter until the main thread hears them', () => {
  const signals = new UnheardSignals()
  signals.heard('SIGINT')
  expect([signals.limit(60_000), signals.isInsistent]).toEqual([60_000, false])
  signals.heard('SIGTERM')
  expect(signals.limit(60_000)).toBe(5000)
  signals.heard('SIGINT')
  expect([signals.limit(60_000), signals.isInsistent]).toEqual([2000, true])
  signals.clear()
  expect([signals.limit(3000), signals.isInsistent]).toEqual([3000, false])
})
