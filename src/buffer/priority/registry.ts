import { Registry } from '../../base/registry.js'
import { decayLimitRandomization } from './decay-limit-randomization.js'
import { linearDecay } from './linear-decay.js'
import type { PriorityFn } from './priority-fn.js'

/** Priority functions of replay buffers by name. */
export const priorityFns = new Registry<PriorityFn>('priority function', {
  linear_decay: linearDecay,
  decay_limit_randomization: decayLimitRandomization,
})
