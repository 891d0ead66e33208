import { TrinityError } from '../../base/error.js'
import { type Config, type PlanLine, trainsIn } from '../../config/index.js'
import type { ModelConfig } from '../../model/config.js'
import type { Card, EngineContext, MemoryWords, ReadModel, TrainingNeeds } from '../description.js'
import { loraSpec, recomputes } from '../spec.js'
import { torchOptions } from './from-config.js'
import { adviceFor } from './memory-advice.js'
import type { PlannedModel } from './memory-model.js'
import { type MemoryPlan, needOf, type PlannedSampler, planMemory } from './memory-plan.js'
import { memoryText, misfits } from './memory-text.js'
import type { TorchOptions } from './options.js'
import { REWARD_TOKENS } from './reward.js'

/** Of the GPUs that train, or that everybody shares; and of those that samplers have for themselves. */
export interface MemoryPlans {
  readonly trainer?: MemoryPlan
  readonly sampler?: MemoryPlan
}

/** The device memory that a configuration will take on the torch engine; undefined: it does not run there. */
export async function planTorch(
  config: Config,
  needs: TrainingNeeds,
  read: ReadModel,
): Promise<MemoryPlans | undefined> {
  const { trains, samples } = sides(config)
  if (!trains && !samples) return undefined
  const options = torchOptions(config)
  const policy = await read(config.model.model_path)
  const apart = (options.samplers ?? 0) > 0
  const models = trains ? await trainedModels(config, options, policy, needs, read) : []
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

/** What the workers have to find free; undefined for models that the plan cannot read, though Transformers may. */
export async function torchNeeds(config: Config, context: EngineContext): Promise<TorchOptions['memory']> {
  try {
    const plans = await planTorch(config, context.needs, context.readModel)
    const need = (plan: MemoryPlan | undefined) => plan && needOf(plan, adviceFor(plan))
    return plans && { trainer: need(plans.trainer), sampler: need(plans.sampler) }
  } catch (error) {
    if (!(error instanceof TrinityError && error.code.startsWith('model/'))) throw error
    context.note(`GPU memory is not planned: ${error.message}`)
    return undefined
  }
}

/** The plan in words, compared with a GPU where one is known. */
export async function memoryWords(
  config: Config,
  needs: TrainingNeeds,
  read: ReadModel,
  card?: Card,
): Promise<MemoryWords> {
  const plans = await planTorch(config, needs, read)
  if (!plans) return { lines: [], warnings: [] }
  const lines: PlanLine[] = []
  const warnings: string[] = []
  for (const [part, plan] of Object.entries(plans)) {
    const whose = plan.ranks > 1 ? `each of ${plan.ranks} GPUs` : plans.sampler ? `a GPU of the ${part}` : 'one GPU'
    const [first, ...rest] = memoryText(plan, card)
    lines.push(['memory', `${whose}, about: ${first}`], ...rest.map((text): PlanLine => ['', text]))
    for (const { phase, text } of card ? misfits(plan, card) : []) warnings.push(`${text} (${adviceFor(plan)(phase)})`)
  }
  if (!card) {
    lines.push(['', 'not compared: no GPU is visible here (--gpu-memory 80GB compares with one of that size)'])
  }
  return { lines, warnings }
}

function sides({ mode, trainer, explorer }: Config): { trains: boolean; samples: boolean } {
  return {
    trains: trainsIn(mode) && trainer.trainer_type === 'torch',
    samples: mode !== 'train' && explorer.rollout_model.engine_type === 'torch',
  }
}

async function trainedModels(
  config: Config,
  options: TorchOptions,
  policy: ModelConfig,
  needs: TrainingNeeds,
  read: ReadModel,
): Promise<PlannedModel[]> {
  const parts = Math.max(1, config.trainer.ulysses_sequence_parallel_size)
  const sized = (model: ModelConfig, tokensOf: (longest: number) => number) => {
    const longest = Math.min(config.model.max_model_len ?? model.maxPositions, model.maxPositions)
    // a row that is longer than a micro-batch is one
    return { longest, tokens: Math.max(tokensOf(longest), Math.ceil(longest / parts)) }
  }
  const { bundles } = needs
  const actor = { config: policy, head: 'lm' } as const
  const models: PlannedModel[] = [
    {
      ...actor,
      ...sized(policy, needs.actorTokens),
      name: 'policy',
      options: options.policy ?? {},
      trains: { lora: loraSpec(config), checkpointing: recomputes(config, 'actor_rollout_ref', true), bundles },
    },
  ]
  if (needs.reference && !needs.referenceIsBase) {
    const size = sized(policy, needs.referenceTokens)
    models.push({ ...actor, ...size, name: 'reference', options: options.reference ?? {} })
  }
  if (needs.critic) {
    const from = config.model.critic_model_path
    const own = from === config.model.model_path ? policy : await read(from)
    models.push({
      ...sized(own, needs.criticTokens),
      name: 'critic',
      config: own,
      head: 'value',
      options: options.critic ?? {},
      trains: { checkpointing: recomputes(config, 'critic', true), bundles: false },
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
