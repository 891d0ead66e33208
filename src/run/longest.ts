import { algorithms } from '../algorithm/index.js'
import { TrinityError } from '../base/error.js'
import { type Config, trainsIn } from '../config/index.js'
import { engines } from '../engine/registry.js'
import type { ModelConfig } from '../model/config.js'
import { isHostedModel } from './hosted.js'

/** A model that a run opens for sequences of some length. */
export interface Opened {
  /** Where the length may stand in a file. */
  readonly keys: readonly [string, ...string[]]
  readonly engine: string
  readonly path: string
  readonly tokens: number
}

/** A length that is left out follows from those of prompt and response. */
const LENGTHS = ['model.max_model_len', 'model.max_response_tokens', 'model.max_prompt_tokens'] as const

/** The models of a configuration whose engine has a say in how long sequences may be. */
export function opened({ mode, model, algorithm, trainer, explorer }: Config): Opened[] {
  const { rollout_model: rollout, auxiliary_models } = explorer
  const found: (Omit<Opened, 'tokens'> & { tokens: number | null })[] = []
  if (trainsIn(mode)) {
    const own = { keys: LENGTHS, engine: trainer.trainer_type, tokens: model.max_model_len }
    found.push({ ...own, path: model.model_path })
    if (algorithms.find(algorithm.algorithm_type)?.use_critic) found.push({ ...own, path: model.critic_model_path })
  }
  if (mode !== 'train') {
    const keys = ['explorer.rollout_model.max_model_len', ...LENGTHS] as const
    found.push({ keys, engine: rollout.engine_type, path: model.model_path, tokens: rollout.max_model_len })
    for (const [i, one] of auxiliary_models.entries()) {
      if (isHostedModel(one)) continue
      const own = [`explorer.auxiliary_models[${i}].max_model_len`, ...LENGTHS] as const
      found.push({ keys: own, engine: one.engine_type, path: one.model_path ?? '', tokens: one.max_model_len })
    }
  }
  return found.filter((one): one is Opened => one.tokens !== null && engines.find(one.engine)?.longest !== undefined)
}

/** What is wrong with opening a model for so many tokens; undefined: nothing. */
export function overlong({ engine, tokens }: Opened, model: ModelConfig): TrinityError | undefined {
  const most = engines.find(engine)?.longest?.(model) ?? Number.POSITIVE_INFINITY
  if (tokens <= most) return undefined
  return new TrinityError(
    'config/max-model-len',
    `sequences of ${tokens} tokens, but the model takes ${most} at most`,
    {
      path: LENGTHS[0],
      hint: `ask for ${most} tokens or fewer`,
    },
  )
}
