import { z } from 'zod'
import { parseArguments } from '../../base/arguments.js'
import type { IgnoredKeys } from '../../config/catalog.js'
import type { Config, InferenceModelConfig } from '../../config/index.js'
import { OFF_GPU } from '../gpu-keys.js'

/** What the sampler reads of `extra_engine_args`; `dtype` beside them belongs to servers and has their default. */
const schema = z.object({ dtype: z.enum(['float32', 'bfloat16']).default('float32') })

/** What a sampler's products are computed in. Training, and what is not a product, stays in 32 bits. */
export type SamplingDtype = z.output<typeof schema>['dtype']

export interface NativeOptions {
  readonly dtype?: SamplingDtype
  /** Of auxiliary models, by number. */
  readonly auxiliary?: readonly SamplingDtype[]
}

const ARGS = 'explorer.rollout_model.extra_engine_args'

export function nativeOptions({ explorer }: Config): NativeOptions {
  const dtypeOf = ({ extra_engine_args }: InferenceModelConfig, path: string) =>
    parseArguments('the native sampler', schema, extra_engine_args, path).dtype
  return {
    dtype: dtypeOf(explorer.rollout_model, ARGS),
    auxiliary: explorer.auxiliary_models.map((one, i) =>
      dtypeOf(one, `explorer.auxiliary_models[${i}].extra_engine_args`),
    ),
  }
}

/** Keys that this engine does not read. */
export function idleKeys({ explorer }: Config): readonly IgnoredKeys[] {
  const unread = Object.keys(explorer.rollout_model.extra_engine_args).filter(
    (name) => !Object.hasOwn(schema.shape, name),
  )
  return [
    ...OFF_GPU.map(({ keys, why }) => ({ keys: keys.filter((key) => key !== ARGS), why })),
    { keys: unread.map((name) => `${ARGS}.${name}`), why: 'has no such argument' },
  ]
}
