import { z } from 'zod'
import { positive } from '../entry.js'
import { advantageFn } from './advantage.js'
import { perGroup } from './group.js'
import { meanOf } from './statistics.js'

export const opmdArgs = {
  opmd_baseline: z
    .enum(['mean', 'logavgexp'])
    .default('mean')
    .describe('What is taken off the reward: the mean of the group, or its soft maximum.'),
  tau: positive.default(1).describe('Temperature of the soft maximum.'),
}

export interface OpmdArgs {
  opmd_baseline: 'mean' | 'logavgexp'
  tau: number
}

/** b = mean, or τ·(logsumexp(r/τ) − ln n); a group of one: 0. */
function opmdBaseline(rewards: readonly number[], { opmd_baseline, tau }: OpmdArgs): number {
  if (rewards.length <= 1) return 0
  if (opmd_baseline === 'mean') return meanOf(rewards)
  const top = rewards.reduce((a, b) => Math.max(a, b))
  const sum = rewards.reduce((acc, r) => acc + Math.exp((r - top) / tau), 0)
  return top + tau * (Math.log(sum) - Math.log(rewards.length))
}

/** OPMD: A = r − b, b the group's mean or its soft maximum (`logavgexp`); a group of one: A = r. */
export const opmd = advantageFn({
  doc: 'reward minus the mean or the soft maximum of the group (OPMD)',
  where: 'explorer',
  needs: ['reward'],
  args: z.strictObject(opmdArgs),
  compute: (experiences, args) => perGroup(experiences, (rewards) => opmdVerdict(rewards, args)),
})

export function opmdVerdict(rewards: readonly number[], args: OpmdArgs) {
  const baseline = opmdBaseline(rewards, args)
  return {
    scores: rewards.map((r) => r - baseline),
    metrics: { group_baseline: baseline, reward_mean: meanOf(rewards) },
  }
}
