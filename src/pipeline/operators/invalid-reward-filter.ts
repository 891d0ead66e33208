import { z } from 'zod'
import { hasReward, operator, sift } from '../operator.js'

export const invalidRewardFilter = operator({
  doc: 'Drops experiences whose reward is absent or not a number.',
  args: z.strictObject({}),
  create: () => ({
    process(experiences) {
      const { kept, dropped } = sift(experiences, (experience) => {
        if (hasReward(experience)) return undefined
        return experience.reward === undefined ? 'no reward' : 'reward is NaN'
      })
      return { experiences: kept, dropped, metrics: { filtered_count: experiences.length - kept.length } }
    },
  }),
})
