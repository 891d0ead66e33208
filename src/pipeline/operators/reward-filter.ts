import { z } from 'zod'
import { hasReward, operator, sift } from '../operator.js'

export const rewardFilter = operator({
  doc: 'Keeps experiences whose reward reaches a threshold.',
  args: z.strictObject({ threshold: z.number().default(0).describe('Lowest reward that is kept.') }),
  create: ({ threshold }) => ({
    process(experiences) {
      const { kept, dropped } = sift(experiences, (experience) => {
        if (!hasReward(experience)) return 'no reward'
        return experience.reward >= threshold ? undefined : `reward below ${threshold}`
      })
      return { experiences: kept, dropped, metrics: { filtered_count: experiences.length - kept.length } }
    },
  }),
})
