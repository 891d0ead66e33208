import { z } from 'zod'
import { groupBy, tid } from '../../experience/experience.js'
import { hasReward, operator, sift, statistics } from '../operator.js'

export const rewardStdFilter = operator({
  doc: 'Drops task groups that cannot teach anything: fewer than two rewards, or rewards that hardly differ.',
  args: z.strictObject({
    threshold: z.number().default(0).describe('A group is dropped when the standard deviation is not above this.'),
  }),
  create: ({ threshold }) => ({
    process(experiences) {
      const means: number[] = []
      const deviations: number[] = []
      const verdict = new Map<string, string | undefined>()
      for (const [task, group] of groupBy(experiences, tid)) {
        const rewards = group.filter(hasReward).map((experience) => experience.reward)
        if (rewards.length < 2) {
          verdict.set(task, 'group of one')
          continue
        }
        const { mean, deviation } = moments(rewards)
        means.push(mean)
        deviations.push(deviation)
        verdict.set(task, deviation > threshold ? undefined : `group deviation not above ${threshold}`)
      }
      const { kept, dropped } = sift(experiences, (experience) =>
        hasReward(experience) ? verdict.get(tid(experience.eid)) : 'no reward',
      )
      return {
        experiences: kept,
        dropped,
        metrics: {
          operator_filtered_count: experiences.length - kept.length,
          ...statistics('origin_group_advantages/reward_mean', means),
          ...statistics('origin_group_advantages/reward_std', deviations),
        },
      }
    },
  }),
})

/** Population standard deviation. Equal rewards give exactly 0, whatever rounding does to their mean. */
function moments(values: readonly number[]): { mean: number; deviation: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  if (values.every((value) => value === values[0])) return { mean, deviation: 0 }
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length
  return { mean, deviation: Math.sqrt(variance) }
}
