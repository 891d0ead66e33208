import { z } from 'zod'
import type { Experience } from '../../experience/index.js'
import { atLeast0, open, positive } from '../entry.js'
import { advantageFn } from './advantage.js'
import { stdLevel } from './grpo.js'
import { perRun, runsByTask } from './runs.js'
import { groupStats } from './statistics.js'

/**
 * GRPO over runs of several steps: the last step's reward is the run's; A = (R − mean)/(std + ε) over the runs of a task,
 * for every step of the run (÷ number of steps with `enable_step_norm`). `std_cal_level` and `std_threshold` as in grpo.
 */
export const stepWiseGrpo = advantageFn({
  doc: 'grpo over whole runs, given to each of their steps',
  where: 'explorer',
  stepWise: true,
  needs: ['reward'],
  args: z.strictObject({
    epsilon: positive.default(1e-6).describe('Added to the deviation, so that nothing is divided by 0.'),
    enable_step_norm: z.boolean().default(false).describe('Divides the advantage by the number of steps of the run.'),
    std_threshold: open(atLeast0).describe(
      'Groups whose rewards deviate no more than this are left out; null: none is.',
    ),
    std_cal_level: stdLevel,
  }),
  compute(experiences, args) {
    const batchStd = args.std_cal_level === 'batch' ? groupStats(rewardsOf(experiences)).std : undefined
    return perRun(experiences, args.enable_step_norm, (rewards) => {
      const { mean, std } = groupStats(rewards)
      const flat = args.std_threshold !== null && (rewards.length === 1 || std <= args.std_threshold)
      const unit = (batchStd ?? std) + args.epsilon
      return {
        scores: flat ? undefined : rewards.map((r) => (r - mean) / unit),
        metrics: { reward_mean: mean, reward_std: std },
      }
    })
  },
})

const rewardsOf = (experiences: readonly Experience[]) =>
  runsByTask(experiences).flatMap((runs) => runs.map((run) => run.reward))
