import { z } from 'zod'
import { priorityFn } from './priority-fn.js'

/** priority = model_version − decay · use_count */
export const linearDecay = priorityFn({
  doc: 'Newest policy first; every use costs `decay` versions.',
  args: z.strictObject({ decay: z.number().default(2).describe('Versions that each use costs.') }),
  create:
    ({ decay }) =>
    ({ modelVersion, useCount }) =>
      modelVersion - decay * useCount,
})
