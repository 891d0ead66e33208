import { z } from 'zod'
import { maskTruncated } from '../../experience/experience.js'
import { operator } from '../operator.js'

export const maskResponseTruncated = operator({
  doc: 'Takes answers that were cut off at the length limit out of the loss; they still count in their group.',
  args: z.strictObject({}),
  create: () => ({
    process(all) {
      const { experiences, count } = maskTruncated(all)
      return { experiences, metrics: { masked_truncated_count: count } }
    },
  }),
})
