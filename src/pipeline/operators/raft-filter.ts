import { z } from 'zod'
import { operator } from '../operator.js'
import { rewardFilter } from './reward-filter.js'

/** The filter of the RAFT baselines: `reward_filter` with a threshold of 0.3, whose selection is final. */
export const raftFilter = operator({
  doc: 'Keeps experiences good enough to imitate (reward of at least 0.3). The advantage stage of RAFT keeps all of them.',
  args: z.strictObject({ threshold: z.number().default(0.3).describe('Lowest reward that is kept.') }),
  async create(args, context) {
    const filter = await rewardFilter.create(args as never, context)
    return {
      async process(experiences, signal) {
        const result = await filter.process(experiences, signal)
        const kept = result.experiences.map((one) => ({ ...one, info: { ...one.info, is_kept: true } }))
        return { ...result, experiences: kept }
      },
    }
  },
})
