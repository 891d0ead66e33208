import type { Config } from '../../config/index.js'
import { alternates } from '../spec.js'
import { unsupported } from './failure.js'
import type { AdapterSpec } from './remote-model.js'

/** Which service, which model there, and how it is trained. */
export interface TinkerOptions {
  /** Absent: the service that the API is from. */
  readonly baseUrl?: string
  readonly adapter: AdapterSpec
  /** Nothing is sampled between a step and the transfer after it. */
  readonly alternates?: boolean
  /** Absent: services other than the one the API is from are tried out before anything is trained. */
  readonly trust?: boolean
  /** Another engine trains what the service is to sample. */
  readonly trainer?: string
  readonly note?: (text: string) => void
}

/** What a configuration says about the service; refuses what the API has no word for. */
export function tinkerOptions(config: Config, note: (text: string) => void): TinkerOptions {
  const { tinker, model_path } = config.model
  const { temperature } = config.explorer.rollout_model
  const { trainer_type } = config.trainer
  if (config.mode === 'both' && trainer_type === 'tinker' && temperature !== 1) {
    const hint = 'set model.temperature to 1: what is sampled at another one cannot be trained there'
    throw unsupported('computes log-probs at temperature 1 alone', 'explorer.rollout_model.temperature', hint)
  }
  const other = config.explorer.auxiliary_models.findIndex(
    (one) => one.engine_type === 'tinker' && one.model_path !== model_path,
  )
  if (other >= 0) {
    throw unsupported(
      'serves one model in a run',
      `explorer.auxiliary_models[${other}].engine_type`,
      'name another engine',
    )
  }
  return {
    baseUrl: tinker.base_url ?? process.env.TINKER_BASE_URL,
    adapter: {
      baseModel: tinker.base_model ?? model_path,
      rank: tinker.rank,
      seed: tinker.seed ?? undefined,
      mlp: tinker.train_mlp,
      attention: tinker.train_attn,
      unembed: tinker.train_unembed,
    },
    alternates: alternates(config),
    trainer: config.mode === 'both' && trainer_type !== 'tinker' ? trainer_type : undefined,
    note,
  }
}
