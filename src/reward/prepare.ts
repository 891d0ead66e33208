import { parseArguments } from '../base/arguments.js'
import { TrinityError } from '../base/error.js'
import { rewardFns } from './registry.js'
import type { RewardFn, RewardInput, RewardParts } from './reward.js'

export interface Reward {
  /** The sum of the parts. */
  reward: number
  parts: RewardParts
}

export type Scorer = (input: RewardInput) => Promise<Reward>

/** A reward function with its arguments checked, once for many responses. */
export function prepareReward(fn: string | RewardFn, args: Record<string, unknown> = {}): Scorer {
  const name = typeof fn === 'string' ? fn : 'custom'
  const entry = typeof fn === 'string' ? rewardFns.get(fn) : fn
  const checked = parseArguments(`reward function '${name}'`, entry.args, args, 'reward_fn_args') as never
  return async (input) => {
    const parts = await entry.score(input, checked)
    let reward = 0
    for (const [part, value] of Object.entries(parts)) {
      if (typeof value !== 'number' || !Number.isFinite(value)) {
        throw new TrinityError('reward/not-finite', `reward function '${name}' returned ${value} for '${part}'`, {
          path: name,
          hint: 'return finite numbers, or throw an error when there is no reward to give',
        })
      }
      reward += value
    }
    if (Object.keys(parts).length === 0) {
      throw new TrinityError('reward/empty', `reward function '${name}' returned no part`, {
        path: name,
        hint: 'return at least one named number; the reward is their sum',
      })
    }
    return { reward, parts }
  }
}
