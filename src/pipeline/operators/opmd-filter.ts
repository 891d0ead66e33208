import { z } from 'zod'
import { hasReward, operator, sift } from '../operator.js'

/** Prompts this short are those of the placeholder of a failed run. */
const PLACEHOLDER_PROMPT = 2

export const opmdFilter = operator({
  doc: 'Drops experiences without a reward and the placeholders of failed runs (prompts of at most two tokens).',
  args: z.strictObject({}),
  create: () => ({
    process(experiences) {
      const { kept, dropped } = sift(experiences, (experience) => {
        if (!hasReward(experience)) return 'no reward'
        return experience.promptLength <= PLACEHOLDER_PROMPT ? 'placeholder' : undefined
      })
      return { experiences: kept, dropped, metrics: { filtered_count: experiences.length - kept.length } }
    },
  }),
})
