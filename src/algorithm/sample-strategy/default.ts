import { z } from 'zod'
import { sampleStrategy } from './sample-strategy.js'

/** One batch of the experience buffer per step. */
export const defaultStrategy = sampleStrategy({
  doc: 'one batch of the experience buffer per step',
  args: z.strictObject({}),
  choose: (_, { main, batchSize }, __, options) => main.take(batchSize, options),
})
