import { Registry } from '../base/registry.js'
import { accuracyReward } from './functions/accuracy-reward.js'
import { countdownReward } from './functions/countdown-reward.js'
import { formatReward } from './functions/format-reward.js'
import { mathBoxedReward } from './functions/math-boxed-reward.js'
import { mathDapoReward } from './functions/math-dapo-reward.js'
import { mathReward } from './functions/math-reward.js'
import { rlcrReward } from './functions/rlcr-reward.js'
import type { RewardFn } from './reward.js'

/** Reward functions by name. */
export const rewardFns = new Registry<RewardFn>('reward function', {
  math_reward: mathReward,
  math_boxed_reward: mathBoxedReward,
  format_reward: formatReward,
  countdown_reward: countdownReward,
  accuracy_reward: accuracyReward,
  math_dapo_reward: mathDapoReward,
  rlcr_reward: rlcrReward,
})
