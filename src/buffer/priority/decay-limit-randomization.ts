import { z } from 'zod'
import { priorityFn } from './priority-fn.js'

/** priority = model_version − decay · use_count + N(0, σ²), while use_count < use_count_limit */
export const decayLimitRandomization = priorityFn({
  doc: 'linear_decay with noise, and a limit on how often an experience is used.',
  args: z.strictObject({
    decay: z.number().default(2).describe('Versions that each use costs.'),
    use_count_limit: z.number().int().default(3).describe('Uses of one experience; 0 or less: no limit.'),
    sigma: z.number().min(0).default(0).describe('Standard deviation of the noise.'),
  }),
  create:
    ({ decay, use_count_limit, sigma }) =>
    ({ modelVersion, useCount, normal }) => {
      if (use_count_limit > 0 && useCount >= use_count_limit) return undefined
      const priority = modelVersion - decay * useCount
      return sigma > 0 ? priority + sigma * normal() : priority
    },
})
