import { Registry } from '../../base/registry.js'
import { critiqueGrpo } from './critique-grpo.js'
import { defaultStrategy } from './default.js'
import { mix } from './mix.js'
import type { SampleStrategy } from './sample-strategy.js'
import { stalenessControl } from './staleness-control.js'
import { warmup } from './warmup.js'
import { wholeStep } from './whole-step.js'

/** Sample strategies by the name that `algorithm.sample_strategy` gives. */
export const sampleStrategies = new Registry<SampleStrategy>('sample strategy', {
  default: defaultStrategy,
  warmup,
  staleness_control: stalenessControl,
  mix,
  critique_grpo: critiqueGrpo,
  whole_step: wholeStep,
})
