import { z } from 'zod'
import { type Experience, groupBy, tid } from '../../experience/experience.js'
import { hasReward, operator, sift } from '../operator.js'

export const dapoDynamicSampling = operator({
  doc: 'Keeps task groups in which some answers are right and some are wrong. The batch shrinks; nothing is sampled again.',
  args: z.strictObject({
    metric_key: z.string().default('accuracy').describe('Metric that scores an answer; without it, the reward does.'),
    correct_threshold: z.number().default(0).describe('An answer is right when its score is above this.'),
  }),
  create: ({ metric_key, correct_threshold }) => {
    const score = (experience: Experience): number | undefined => {
      if (Object.hasOwn(experience.metrics, metric_key)) return experience.metrics[metric_key]
      return hasReward(experience) ? experience.reward : undefined
    }
    return {
      process(experiences) {
        const verdict = new Map<string, string | undefined>()
        for (const [task, group] of groupBy(experiences, tid)) {
          const scores = group.map(score).filter((value) => value !== undefined)
          const right = scores.filter((value) => value > correct_threshold).length
          if (scores.length < 2) verdict.set(task, 'group of one')
          else if (right === scores.length) verdict.set(task, 'all correct')
          else if (right === 0) verdict.set(task, 'all wrong')
        }
        const { kept, dropped } = sift(experiences, (experience) =>
          score(experience) === undefined ? 'no score' : verdict.get(tid(experience.eid)),
        )
        return {
          experiences: kept,
          dropped,
          metrics: {
            filtered_count: experiences.length - kept.length,
            dropped_all_correct: dropped['all correct'] ?? 0,
            dropped_all_wrong: dropped['all wrong'] ?? 0,
          },
        }
      },
    }
  },
})
