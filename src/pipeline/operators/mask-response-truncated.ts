import { z } from 'zod'
import { operator } from '../operator.js'

export const maskResponseTruncated = operator({
  doc: 'Takes answers that were cut off at the length limit out of the loss; they still count in their group.',
  args: z.strictObject({}),
  create: () => ({
    process(experiences) {
      let masked = 0
      const result = experiences.map((experience) => {
        if (experience.truncateStatus !== 'response_truncated') return experience
        masked++
        return { ...experience, actionMask: new Uint8Array(experience.actionMask.length) }
      })
      return { experiences: result, metrics: { masked_truncated_count: masked } }
    },
  }),
})
