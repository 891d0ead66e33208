import { expect, it } from 'vitest'
import type { Config } from '../config/index.js'
import { horizonOf } from './horizon.js'

const steps = (synchronizer: object, enable = true) => {
  const usual = { sync_style: 'fixed', sync_interval: 1, sync_offset: 0 }
  const buffer = { trainer_input: { experience_buffer: { replay_buffer: { enable } } } }
  const horizon = horizonOf({ synchronizer: { ...usual, ...synchronizer }, buffer } as unknown as Config)
  return horizon && [1, 2, 3, 4, 5].map(horizon)
}

it('pairs training steps with explorer steps by the intervals, whatever the offset', () => {
  expect(steps({})).toEqual([1, 2, 3, 4, 5])
  expect(steps({ sync_interval: 3, sync_offset: 1 })).toEqual([1, 2, 3, 4, 5])
  expect(steps({ explorer_sync_interval: 2 })).toEqual([2, 4, 6, 8, 10])
  expect(steps({ trainer_sync_interval: 2 })).toEqual([1, 1, 2, 2, 3])
})

it('pairs nothing in the other styles, or where nothing is replayed', () => {
  for (const sync_style of ['explorer_driven', 'trainer_driven', 'fully_async']) {
    expect(steps({ sync_style })).toBeUndefined()
  }
  expect(steps({}, false)).toBeUndefined()
})
