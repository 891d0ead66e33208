import { z } from 'zod'
import { advantageFn } from './advantage.js'
import { perGroup } from './group.js'
import { meanOf } from './statistics.js'

/** REINFORCE: A = r. */
export const reinforce = advantageFn({
  doc: 'the reward itself',
  where: 'explorer',
  needs: ['reward'],
  args: z.strictObject({}),
  compute: (experiences) =>
    perGroup(experiences, (rewards) => ({ scores: rewards, metrics: { reward_mean: meanOf(rewards) } })),
})
