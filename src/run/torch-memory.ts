import type { Config } from '../config/index.js'
import type { PlannedModel } from '../engine/torch/memory-model.js'
import { type MemoryPlan, needOf, type PlannedSampler, planMemory } from '../engine/torch/memory-plan.js'
import type { TorchOptions } from '../engine/torch/options.js'
import { REWARD_TOKENS } from '../engine/torch/reward.js'
import type { ModelConfig } from '../model/config.js'
import { lossOf, trainerNeeds } from '../trainer/needs.js'
import { actorTokens, criticTokens } from '../trainer/settings.js'
import { adviceFor } from './memory-advice.js'
import { criticRecomputes, loraSpec, policyRecomputes } from './specs.js'
import { torchOptions } from './torch-options.js'

/** Configurations of models by `model_path`. */
export type ReadModel = (path: string) => Promise<ModelConfig>

/** Of the GPUs that train, or that everybody shares; and of those that samplers have for themselves. */
export interface MemoryPlans {
  readonly trainer?: MemoryPlan
  readonly sampler?: MemoryPlan
}

/** The device memory that a configuration will take on the torch engine; undefined: it does not run there. */
export async function planTorch(config: Config, read: ReadModel): Promise<MemoryPlans | undefined> {
  const { trains, samples } = sides(config)
  if (!trains && !samples) return undefined
  const options = torchOptions(config)
  const policy = await read(config.model.model_path)
  const apart = (options.samplers ?? 0) > 0
  const models = trains ? await trainedModels(config, options, policy, read) : []
  const auxiliary = samples ? await auxiliaryModels(config, options, read) : { samplers: [], rewards: [] }
  const own = samples ? [rolloutSampler(config, options, policy, trains), ...auxiliary.samplers] : []
  const common = { share: options.memoryFraction ?? 0.9, turns: trains && options.shareStorage !== false }
  const trainer = planMemory({
    ...common,
    ranks: trains ? (options.devices ?? 1) : 1,
    models: [...models, ...auxiliary.rewards],
    samplers: apart ? [] : own,
  })
  if (!apart) return { trainer }
  return { trainer, sampler: planMemory({ ...common, turns: false, ranks: 1, models: [], samplers: own }) }
}

/** What the workers of this configuration have to find free. */
export async function torchNeeds(config: Config, read: ReadModel): Promise<TorchOptions['memory']> {
  const plans = await planTorch(config, read)
  const need = (plan: MemoryPlan | undefined) => plan && needOf(plan, adviceFor(plan))
  return plans && { trainer: need(plans.trainer), sampler: need(plans.sampler) }
}

function sides({ mode, trainer, explorer }: Config): { trains: boolean; samples: boolean } {
  return {
    trains: ['both', 'train', 'colocate'].includes(mode) && trainer.trainer_type === 'torch',
    samples: mode !== 'train' && explorer.rollout_model.engine_type === 'torch',
  }
}

async function trainedModels(
  config: Config,
  options: TorchOptions,
  policy: ModelConfig,
  read: ReadModel,
): Promise<PlannedModel[]> {
  const needs = trainerNeeds(config)
  const parts = Math.max(1, config.trainer.ulysses_sequence_parallel_size)
  const sized = (model: ModelConfig, tokensOf: (config: Config, longest: number) => number) => {
    const longest = Math.min(config.model.max_model_len ?? model.maxPositions, model.maxPositions)
    // a row that is longer than a micro-batch is one
    return { longest, tokens: Math.max(tokensOf(config, longest), Math.ceil(longest / parts)) }
  }
  const bundles = lossOf(config).coupling === 'bundle'
  const actor = { config: policy, head: 'lm', ...sized(policy, actorTokens) } as const
  const models: PlannedModel[] = [
    {
      ...actor,
      name: 'policy',
      options: options.policy ?? {},
      trains: { lora: loraSpec(config), checkpointing: policyRecomputes(config, 'torch'), bundles },
    },
  ]
  if (needs.reference && !needs.referenceIsBase) {
    models.push({ ...actor, name: 'reference', options: options.reference ?? {} })
  }
  if (needs.critic) {
    const from = config.model.critic_model_path
    const own = from === config.model.model_path ? policy : await read(from)
    models.push({
      ...sized(own, criticTokens),
      name: 'critic',
      config: own,
      head: 'value',
      options: options.critic ?? {},
      trains: { checkpointing: criticRecomputes(config, 'torch'), bundles: false },
    })
  }
  return models
}

function rolloutSampler(config: Config, options: TorchOptions, policy: ModelConfig, trains: boolean): PlannedSampler {
  const { max_model_len } = config.explorer.rollout_model
  const merged = (config.model.lora_configs?.length ?? 0) > 0 || options.policy?.paramOffload === true
  const shares = trains && options.shareStorage !== false && !merged
  return {
    name: 'sampler',
    config: policy,
    options: { dtype: options.policy?.dtype },
    copies: (options.samplers ?? 0) > 0 ? 2 : shares ? 0 : 1,
    maxModelLen: Math.min(max_model_len ?? policy.maxPositions, policy.maxPositions),
  }
}

async function auxiliaryModels(config: Config, options: TorchOptions, read: ReadModel) {
  const samplers: PlannedSampler[] = []
  const rewards: PlannedModel[] = []
  for (const [i, one] of config.explorer.auxiliary_models.entries()) {
    if (one.engine_type !== 'torch') continue
    const model = await read(one.model_path ?? '')
    const name = one.name ?? `auxiliary model ${i}`
    if (model.head === 'lm') {
      const maxModelLen = Math.min(one.max_model_len ?? model.maxPositions, model.maxPositions)
      samplers.push({ name, config: model, options: { dtype: options.policy?.dtype }, copies: 1, maxModelLen })
    } else {
      const size = { tokens: REWARD_TOKENS, longest: REWARD_TOKENS }
      rewards.push({ name, config: model, head: 'reward', options: options.reference ?? {}, ...size })
    }
  }
  return { samplers, rewards }
}
