import { z } from 'zod'
import { advantageFn } from './advantage.js'
import { opmdArgs, opmdVerdict } from './opmd.js'
import { reweight, reweightArgs } from './reweight.js'
import { perRun } from './runs.js'

/** OPMD over whole runs followed by the positive amplification of R3L (see `reweight`). */
export const stepWiseOpmdReweightAdv = advantageFn({
  doc: 'opmd over whole runs with amplified successes (R3L)',
  where: 'explorer',
  stepWise: true,
  needs: ['reward'],
  args: z.strictObject({
    ...opmdArgs,
    ...reweightArgs,
    enable_step_norm: z.boolean().default(false).describe('Divides the advantage by the number of steps of the run.'),
  }),
  compute: (experiences, args) =>
    perRun(experiences, args.enable_step_norm, (rewards, runs) => {
      const { scores, metrics } = opmdVerdict(rewards, args)
      return { scores: scores.map((score, i) => reweight(rewards[i], score, runs[i].steps[0], args)), metrics }
    }),
})
