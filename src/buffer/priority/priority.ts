import type { z } from 'zod'
import { Registry } from '../../registry.js'
import { decayLimitRandomization } from './decay-limit-randomization.js'
import { linearDecay } from './linear-decay.js'

/** What a priority function is told about an item: a list of experiences that were put together. */
export interface PriorityItem {
  /** Policy version of its first experience. */
  modelVersion: number
  /** How often it has been taken. */
  useCount: number
  /** The next number of the standard normal distribution, from the buffer's own seeded stream. */
  normal: () => number
}

/** The priority, highest first; undefined: not to be handed out (again). Asked at every insertion. */
export type PriorityOf = (item: PriorityItem) => number | undefined

export interface PriorityFn<Args = unknown> {
  doc: string
  args: z.ZodType<Args>
  create(args: Args): PriorityOf
}

export const priorityFns = new Registry<PriorityFn>('priority function', {
  linear_decay: linearDecay as PriorityFn,
  decay_limit_randomization: decayLimitRandomization as PriorityFn,
})
