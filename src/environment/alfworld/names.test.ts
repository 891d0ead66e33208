import { describe, expect, it } from 'vitest'
import { readableNames } from './names.js'

describe('readableNames', () => {
  it('numbers objects of a kind downwards', () => {
    const ids = [
      'agent1',
      'apple_bar__minus_01_dot_20',
      'apple_bar__plus_00_dot_10',
      'sink_bar_1',
      'sink_bar_1_bar_sinkbasin',
    ]
    expect([...readableNames(ids).values()]).toEqual(['agent1 ', 'apple 2', 'apple 1', 'sink 1', 'sinkbasin 1'])
  })
})
