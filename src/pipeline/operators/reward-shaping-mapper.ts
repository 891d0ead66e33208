import { z } from 'zod'
import type { Experience } from '../../experience/experience.js'
import { hasReward, operator, statistics } from '../operator.js'

const shaping = z.strictObject({
  stats_key: z.string().describe('Key of `info` that holds the number.'),
  op_type: z.enum(['ADD', 'SUB', 'MUL', 'DIV']).default('ADD').describe('How the number changes the reward.'),
  weight: z.number().default(1).describe('Factor of the number.'),
})
type Shaping = z.output<typeof shaping>

export const rewardShapingMapper = operator({
  doc: 'Changes rewards by numbers that earlier operators or the workflow put into `info`.',
  args: z.strictObject({
    reward_shaping_configs: z.array(shaping).nullable().default(null).describe('Changes, in order.'),
  }),
  create: ({ reward_shaping_configs }) => ({
    process(experiences) {
      const changes: number[] = []
      const shaped = experiences.map((experience) => {
        if (!hasReward(experience)) return experience
        const reward = (reward_shaping_configs ?? []).reduce(
          (value, step) => apply(value, step, experience),
          experience.reward,
        )
        changes.push(reward - experience.reward)
        return { ...experience, reward }
      })
      return { experiences: shaped, metrics: statistics('reward_diff', changes) }
    },
  }),
})

/** A number that is not there, or a division by zero, leaves the reward as it is. */
function apply(reward: number, { stats_key, op_type, weight }: Shaping, { info }: Experience): number {
  const value = info[stats_key]
  if (typeof value !== 'number' || !Number.isFinite(value)) return reward
  const amount = weight * value
  if (op_type === 'ADD') return reward + amount
  if (op_type === 'SUB') return reward - amount
  if (op_type === 'MUL') return reward * amount
  return amount === 0 ? reward : reward / amount
}
