import { z } from 'zod'
import type { PriorityFn } from './priority.js'

/** priority = model_version − decay · use_count */
export const linearDecay: PriorityFn<{ decay: number }> = {
  doc: 'Newest policy first; every use costs `decay` versions.',
  args: z.strictObject({ decay: z.number().default(2).describe('Versions that one use costs.') }),
  create:
    ({ decay }) =>
    ({ modelVersion, useCount }) =>
      modelVersion - decay * useCount,
}
