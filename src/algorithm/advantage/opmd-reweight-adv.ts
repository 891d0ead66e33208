import { z } from 'zod'
import { advantageFn } from './advantage.js'
import { perGroup } from './group.js'
import { opmdArgs, opmdVerdict } from './opmd.js'
import { reweight, reweightArgs } from './reweight.js'

/** OPMD followed by the positive amplification of R3L (see `reweight`). */
export const opmdReweightAdv = advantageFn({
  doc: 'opmd with amplified successes (R3L)',
  where: 'explorer',
  needs: ['reward'],
  args: z.strictObject({ ...opmdArgs, ...reweightArgs }),
  compute: (experiences, args) =>
    perGroup(experiences, (rewards, members) => {
      const { scores, metrics } = opmdVerdict(rewards, args)
      return { scores: scores.map((score, i) => reweight(rewards[i], score, members[i], args)), metrics }
    }),
})
