import { z } from 'zod'
import { sampleStrategy } from './sample-strategy.js'

/** Only experiences whose policy is at most `max_staleness` updates old: version ≥ max(step − max_staleness − 1, 0). */
export const stalenessControl = sampleStrategy({
  doc: 'one batch per step, without experiences of a policy that is too old',
  args: z.strictObject({
    max_staleness: z
      .union([z.number().nonnegative(), z.literal(Number.POSITIVE_INFINITY)])
      .nullable()
      .default(null)
      .describe('Updates by which an experience may be old; null: any number.'),
  }),
  choose(step, { main, batchSize }, { max_staleness }, options) {
    const oldest = Math.max(step - (max_staleness ?? Number.POSITIVE_INFINITY) - 1, 0)
    return main.take(batchSize, { ...options, minModelVersion: oldest })
  },
})
