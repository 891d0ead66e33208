import { z } from 'zod'
import { advantageFn } from './advantage.js'
import { perGroup } from './group.js'
import { meanOf } from './statistics.js'

export const asymreArgs = {
  baseline_shift: z
    .number()
    .default(-0.1)
    .describe('Added to the mean of the group; below 0 more is learned from successes.'),
}

/** b = mean + shift; a group of one: 0. */
export function asymreVerdict(rewards: readonly number[], shift: number) {
  const baseline = rewards.length > 1 ? meanOf(rewards) + shift : 0
  return {
    scores: rewards.map((r) => r - baseline),
    metrics: { group_baseline: baseline, reward_mean: meanOf(rewards) },
  }
}

/** Asymmetric REINFORCE: A = r − (mean + shift). A negative shift learns more from successes; a group of one: A = r. */
export const asymre = advantageFn({
  doc: 'reward minus the shifted mean of the group (AsymRE)',
  where: 'explorer',
  needs: ['reward'],
  args: z.strictObject(asymreArgs),
  compute: (experiences, args) => perGroup(experiences, (rewards) => asymreVerdict(rewards, args.baseline_shift)),
})
