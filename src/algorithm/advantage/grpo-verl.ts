import { z } from 'zod'
import { positive } from '../entry.js'
import { advantageFn, trainerRewardOf } from './advantage.js'
import { perGroup } from './group.js'
import { groupStats } from './statistics.js'

/** GRPO in the trainer: A = (r − mean) / (std + ε) over the rows of a task in the batch; r may include a KL penalty. */
export const grpoVerl = advantageFn({
  doc: 'grpo, computed in the trainer',
  where: 'trainer',
  needs: ['reward'],
  args: z.strictObject({
    epsilon: positive.default(1e-6).describe('Added to the deviation, so that nothing is divided by 0.'),
  }),
  compute: (experiences, { epsilon }) =>
    perGroup(experiences, (rewards) => normalized(rewards, epsilon), trainerRewardOf),
})

export function normalized(rewards: readonly number[], epsilon: number) {
  const { mean, std } = groupStats(rewards)
  return { scores: rewards.map((r) => (r - mean) / (std + epsilon)), metrics: { reward_mean: mean, reward_std: std } }
}
