import { z } from 'zod'
import { advantageFn, trainerRewardOf } from './advantage.js'
import { perGroup } from './group.js'
import { meanOf } from './statistics.js'

/** RLOO: reward minus the mean of the others = (r − mean)·n/(n − 1); a group of one: r. */
export const rloo = advantageFn({
  doc: 'reward minus the mean of the other runs of the task (RLOO)',
  where: 'trainer',
  needs: ['reward'],
  args: z.strictObject({}),
  compute: (experiences) =>
    perGroup(
      experiences,
      (rewards) => {
        const n = rewards.length
        const mean = meanOf(rewards)
        return { scores: rewards.map((r) => (n > 1 ? ((r - mean) * n) / (n - 1) : r)), metrics: { reward_mean: mean } }
      },
      trainerRewardOf,
    ),
})
