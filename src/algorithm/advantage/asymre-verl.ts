import { z } from 'zod'
import { advantageFn, trainerRewardOf } from './advantage.js'
import { asymreArgs, asymreVerdict } from './asymre.js'
import { perGroup } from './group.js'

/** AsymRE in the trainer: A = r − (mean + shift) over the rows of a task in the batch. */
export const asymreVerl = advantageFn({
  doc: 'asymre, computed in the trainer',
  where: 'trainer',
  needs: ['reward'],
  args: z.strictObject(asymreArgs),
  compute: (experiences, args) =>
    perGroup(experiences, (rewards) => asymreVerdict(rewards, args.baseline_shift), trainerRewardOf),
})
