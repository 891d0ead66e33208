import { z } from 'zod'
import { open, positive } from '../entry.js'
import { advantageFn } from './advantage.js'
import { perGroup } from './group.js'
import { meanOf, populationStd } from './statistics.js'

/**
 * REC: A = r − mean, or (r − mean)/(std + ε) with `std_normalize` (std divided by n); a group of one: A = r.
 * `drop: balance`: where fewer members reach the mean than fall short of it, as many of the latter as are in excess are
 * drawn at random and get A = 0; mean and std are then those of the rest. `drop_balance` is the share that was drawn.
 */
export const rec = advantageFn({
  doc: 'reward minus the mean of the group, with optional balancing of successes and failures (REC)',
  where: 'explorer',
  needs: ['reward'],
  args: z.strictObject({
    epsilon: positive.default(1e-6).describe('Added to the deviation, so that nothing is divided by 0.'),
    std_normalize: z.boolean().default(false).describe('Divides by the deviation of the group.'),
    drop: open(z.enum(['balance'])).describe('balance: failures in excess of successes are drawn and left out.'),
  }),
  compute: (experiences, args, { random }) =>
    perGroup(experiences, (rewards) => {
      const all = meanOf(rewards)
      const short = rewards.flatMap((r, i) => (r < all ? [i] : []))
      const excess = args.drop === 'balance' ? Math.max(0, 2 * short.length - rewards.length) : 0
      const dropped = new Set(draw(short, excess, random))
      const kept = rewards.filter((_, i) => !dropped.has(i))
      const mean = kept.length > 1 ? meanOf(kept) : 0
      const std = kept.length > 1 ? populationStd(kept) : 1
      const unit = args.std_normalize ? std + args.epsilon : 1
      return {
        scores: rewards.map((r, i) => (dropped.has(i) ? 0 : (r - mean) / unit)),
        metrics: { drop_balance: excess / rewards.length, reward_mean: mean, reward_std: std },
      }
    }),
})

/** `count` different members of the list. */
function draw(list: readonly number[], count: number, random: () => number): number[] {
  const left = [...list]
  return Array.from({ length: count }, () => left.splice(Math.floor(random() * left.length), 1)[0])
}
