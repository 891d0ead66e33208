import { z } from 'zod'
import { sampleStrategy } from './sample-strategy.js'

/** As `default`, with `info.is_off_policy` made definite: true only for rollouts that were refined by a critique. */
export const critiqueGrpo = sampleStrategy({
  doc: 'one batch per step, rollouts refined by a critique marked as off-policy',
  args: z.strictObject({}),
  async choose(_, { main, batchSize }, __, options) {
    const experiences = await main.take(batchSize, options)
    return experiences.map((e) => ({ ...e, info: { ...e.info, is_off_policy: e.info.is_off_policy === true } }))
  },
})
