import { z } from 'zod'
import { fraction } from '../entry.js'
import { clipArgs, clipKnown, clipMissing, fillClip } from './clip.js'
import { handTypedSizes, ignoredSizes, mixture, partModes } from './mixture.js'
import { policyLoss } from './policy-loss.js'

/** MIX: (1 − μ)·PPO(usual rows) + μ·SFT(expert rows). The row column `expert` is 1 or 0. */
export const mix = policyLoss({
  doc: 'PPO on rollouts and SFT on expert data in one loss',
  args: z
    .strictObject({
      mu: fraction.default(0.1).describe('Share of the expert loss.'),
      ...clipArgs,
      ...partModes,
      ...handTypedSizes,
    })
    .overwrite(fillClip)
    .refine(clipKnown, clipMissing),
  ignored: ignoredSizes,
  build: (g, args, context) => mixture(g, args, context, args.mu, { name: 'sft_loss', loss: g.logprob.neg() }),
})
