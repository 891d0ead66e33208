import { z } from 'zod'
import { sampleStrategy } from './sample-strategy.js'

/** Where an experience says how many were put together with it. */
export const STEP_SIZE = 'step_size'

/**
 * All that one step of the explorer gave, however many sequences its rollouts have. For buffers that give experiences in the
 * order in which they came.
 */
export const wholeStep = sampleStrategy({
  doc: 'all experiences of one explorer step, however many they are',
  args: z.strictObject({}),
  async choose(_, { main }, __, options) {
    const first = await main.take(1, options)
    const more = Number(first[0]?.info[STEP_SIZE] ?? 1) - 1
    // they came together with the first: nothing to wait for, and no signal may part them
    return more > 0 ? [...first, ...(await main.take(more, { ...options, signal: undefined }))] : first
  },
})
