import { describe, expect, it } from 'vitest'
import { outputReward } from './output-reward.js'

describe('outputReward', () => {
  it.each([
    ['{"reward": 0.5}\n', 0.5],
    ['thinking…\n{"reward": {"right": 1, "short": 0.2}}\n\n', { right: 1, short: 0.2 }],
    ['{"rewards": [0, 1]}', [0, 1]],
    ['0.25', 0.25],
    // the last one counts, whatever plain text follows it
    ['{"reward": 1}\n{"reward": 0}\nbye', 0],
  ])('%j', (output, reward) => expect(outputReward(output)).toEqual(reward))

  it.each(['', 'nothing here', '{"score": 1}', '{"reward": 1}\n{"other": 2}', '"text"', '{"reward": 1'])(
    'finds none in %j',
    (output) => expect(outputReward(output)).toBeUndefined(),
  )
})
