import { z } from 'zod'
import { rewardFilter } from './reward-filter.js'

/** The filter of the RAFT baselines: reward_filter with a threshold of 0.3. */
export const raftFilter = {
  ...rewardFilter,
  doc: 'Keeps experiences good enough to imitate (reward of at least 0.3).',
  args: z.strictObject({ threshold: z.number().default(0.3).describe('Lowest reward that is kept.') }),
}
