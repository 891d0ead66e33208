import { z } from 'zod'
import { positive } from '../entry.js'
import { advantageFn, rewarded, rewardOf } from './advantage.js'
import { perGroup } from './group.js'
import { stdLevel } from './grpo.js'
import { reweight, reweightArgs } from './reweight.js'
import { groupStats } from './statistics.js'

/** GRPO followed by the positive amplification of R3L (see `reweight`). */
export const grpoReweightAdv = advantageFn({
  doc: 'grpo with amplified successes (R3L)',
  where: 'explorer',
  needs: ['reward'],
  args: z.strictObject({
    epsilon: positive.default(1e-6).describe('Added to the deviation, so that nothing is divided by 0.'),
    std_cal_level: stdLevel,
    ...reweightArgs,
  }),
  compute(experiences, args) {
    const all = rewarded(experiences).kept.map((experience) => rewardOf(experience)!)
    const batchStd = args.std_cal_level === 'batch' ? groupStats(all).std : undefined
    return perGroup(experiences, (rewards, members) => {
      const { mean, std } = groupStats(rewards)
      const unit = (batchStd ?? std) + args.epsilon
      return {
        scores: rewards.map((r, i) => reweight(r, (r - mean) / unit, members[i], args)),
        metrics: { reward_mean: mean, reward_std: std },
      }
    })
  },
})
