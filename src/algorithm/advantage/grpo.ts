import { z } from 'zod'
import { type Experience, groupBy, makeEid, maskTruncated, tid } from '../../experience/index.js'
import { atLeast0, fraction, open, positive } from '../entry.js'
import { type AdvantageContext, advantageFn, rewarded, rewardOf } from './advantage.js'
import { applyScores } from './group.js'
import { groupStats, meanOf, summarize } from './statistics.js'

export const stdLevel = z
  .enum(['group', 'batch'])
  .default('group')
  .describe('Over what the deviation is taken: the runs of a task, or the batch.')

/**
 * GRPO, over the runs of a task: A = (r − mean) / (std + ε), std unbiased; a group of one: mean 0, std 1.
 *
 * `std_cal_level: batch`: std over all rewards of the batch (1 if there are fewer than two), mean still per group.
 * `std_threshold`: groups with std ≤ threshold, and groups of one, are left out. `duplicate_experiences`: each group left
 * out is replaced by a copy of a kept one, drawn at random.
 * `mask_truncated`: answers cut at the length limit leave the loss, but count in the statistics of their group.
 * `rank_penalty` p: r becomes r·(1 − p·rank/n), rank ascending by mean log-prob, so that likely answers earn less.
 */
export const grpo = advantageFn({
  doc: 'reward relative to the group of the task, in units of its deviation',
  where: 'explorer',
  needs: ['reward'],
  args: z.strictObject({
    epsilon: positive.default(1e-6).describe('Added to the deviation, so that nothing is divided by 0.'),
    std_threshold: open(atLeast0).describe(
      'Groups whose rewards deviate no more than this are left out; null: none is.',
    ),
    duplicate_experiences: z
      .boolean()
      .default(false)
      .describe('A copy of a group that is kept takes the place of each that is left out.'),
    rank_penalty: open(fraction).describe(
      'Likely answers earn less: share that the likeliest of a group loses; null: nothing.',
    ),
    std_cal_level: stdLevel,
    mask_truncated: z
      .boolean()
      .default(false)
      .describe('Answers that were cut at the length limit give no loss; they still count in their group.'),
  }),
  compute(experiences, args, context) {
    const { kept, metrics } = rewarded(experiences)
    const groups = [...groupBy(kept, tid).values()]
    const batchStd = args.std_cal_level === 'batch' ? groupStats(kept.map((e) => rewardOf(e)!)).std : undefined
    const scores = new Map<Experience, number>()
    const measured: { reward_mean: number[]; reward_std: number[] } = { reward_mean: [], reward_std: [] }
    const dropped: Experience[][] = []
    const used: Experience[][] = []
    for (const group of groups) {
      const rewards = penalized(group, args.rank_penalty)
      const { mean, std } = groupStats(rewards)
      measured.reward_mean.push(mean)
      measured.reward_std.push(std)
      const flat = args.std_threshold !== null && (group.length === 1 || std <= args.std_threshold)
      ;(flat ? dropped : used).push(group)
      if (flat) continue
      const unit = (batchStd ?? std) + args.epsilon
      group.forEach((experience, i) => void scores.set(experience, (rewards[i] - mean) / unit))
    }
    const result = applyScores(kept, scores)
    if (args.duplicate_experiences) result.push(...applyScores(...copies(used, dropped.length, scores, context)))
    const masked = args.mask_truncated ? maskTruncated(result) : undefined
    return {
      experiences: masked?.experiences ?? result,
      metrics: {
        ...summarize('group_advantages', measured),
        filtered_count: dropped.reduce((sum, group) => sum + group.length, 0),
        ...(masked ? { masked_truncated_count: masked.count } : {}),
        ...metrics,
      },
    }
  },
})

/** Rewards for the statistics and for the numerator alike. */
function penalized(group: readonly Experience[], penalty: number | null): number[] {
  const rewards = group.map((experience) => rewardOf(experience)!)
  if (!penalty) return rewards
  const likelihood = group.map(({ logprobs, actionMask }) =>
    meanOf((logprobs ?? new Float32Array()).filter((_, i) => actionMask[i] !== 0)),
  )
  const order = group.map((_, i) => i).sort((a, b) => likelihood[a] - likelihood[b])
  for (const [rank, i] of order.entries()) rewards[i] *= 1 - (penalty * rank) / group.length
  return rewards
}

/** `count` groups drawn with replacement; copies get ids of their own. */
function copies(
  groups: readonly Experience[][],
  count: number,
  scores: ReadonlyMap<Experience, number>,
  { random }: AdvantageContext,
): [Experience[], Map<Experience, number>] {
  const copied = new Map<Experience, number>()
  for (let i = 0; i < count && groups.length > 0; i++) {
    for (const experience of groups[Math.floor(random() * groups.length)]) {
      const suffix = Math.floor(random() * 0x1000000)
        .toString(16)
        .padStart(6, '0')
      copied.set({ ...experience, eid: makeEid({ ...experience.eid, suffix }) }, scores.get(experience)!)
    }
  }
  return [[...copied.keys()], copied]
}
