import { z } from 'zod'
import { advantageFn } from './advantage.js'
import { opmdArgs, opmdVerdict } from './opmd.js'
import { perRun } from './runs.js'

/** OPMD over runs of several steps: the last step's reward is the run's; A = R − b, for every step of the run. */
export const stepWiseOpmd = advantageFn({
  doc: 'opmd over whole runs, given to each of their steps',
  where: 'explorer',
  stepWise: true,
  needs: ['reward'],
  args: z.strictObject({
    ...opmdArgs,
    enable_step_norm: z.boolean().default(false).describe('Divides the advantage by the number of steps of the run.'),
  }),
  compute: (experiences, args) => perRun(experiences, args.enable_step_norm, (rewards) => opmdVerdict(rewards, args)),
})
