import { z } from 'zod'
import { advantageFn, trainerRewardOf } from './advantage.js'
import { perGroup } from './group.js'
import { opmdArgs, opmdVerdict } from './opmd.js'

/** OPMD in the trainer: A = r − b over the rows of a task in the batch. */
export const opmdVerl = advantageFn({
  doc: 'opmd, computed in the trainer',
  where: 'trainer',
  needs: ['reward'],
  args: z.strictObject(opmdArgs),
  compute: (experiences, args) => perGroup(experiences, (rewards) => opmdVerdict(rewards, args), trainerRewardOf),
})
