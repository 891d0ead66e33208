import { TrinityError } from '../../base/error.js'
import { type Config, type InferenceModelConfig, type PlanLine, trainsIn } from '../../config/index.js'
import type { ModelConfig } from '../../model/config.js'
import type { Card, EngineContext, MemoryWords, ReadModel, TrainingNeeds } from '../description.js'
import { loraSpec, recomputes } from '../spec.js'
import { type TooLarge, torchOptions } from './from-config.js'
import { adviceFor } from './memory-advice.js'
import type { PlannedModel } from './memory-model.js'
import { type MemoryPlan, needOf, type PlannedSampler, planMemory } from './memory-plan.js'
import { memoryText, misfits } from './memory-text.js'
import type { MemoryNeeds, TorchOptions } from './options.js'
import { REWARD_TOKENS } from './reward.js'
import { Sites } from './sites.js'

/** Of the GPUs that train, or that everybody shares; of those that samplers have for themselves; of each auxiliary model's. */
export interface MemoryPlans {
  readonly trainer?: MemoryPlan
  readonly sampler?: MemoryPlan
  readonly auxiliary?: readonly (MemoryPlan | undefined)[]
}

/** The device memory that a configuration will take on the torch engine; undefined: it does not run there. */
export async function planTorch(
  config: Config,
  needs: TrainingNeeds,
  read: ReadModel,
  tooLarge?: TooLarge,
): Promise<MemoryPlans | undefined> {
  const { trains, samples } = sides(config)
  const options = torchOptions(config, undefined, tooLarge)
  const others = config.mode === 'train' ? [] : await auxiliaryModels(config, options, read)
  if (!trains && !samples && !others.some(Boolean)) return undefined
  const policy = trains || samples ? await read(config.model.model_path) : undefined
  const sites = new Sites(options)
  const models = policy && trains ? await trainedModels(config, options, policy, needs, read) : []
  const own = policy && samples ? [rolloutSampler(config, options, policy, trains)] : []
  const apart = sites.of().length > 0
  const common = { share: options.memoryFraction ?? 0.9, turns: trains && options.shareStorage !== false }
  const alone = { turns: false, ranks: 1, models: [], samplers: [] }
  const shared = others.filter((one, i) => one && sites.of(i).length === 0)
  const here = {
    rewards: shared.flatMap((one) => one?.reward ?? []),
    samplers: shared.flatMap((one) => one?.sampler ?? []),
  }
  const inTrainer = {
    ...common,
    ranks: trains ? (options.devices ?? 1) : 1,
    models: [...models, ...here.rewards],
    samplers: [...(apart ? [] : own), ...here.samplers],
  }
  return {
    ...(inTrainer.models.length + inTrainer.samplers.length > 0 && { trainer: planMemory(inTrainer) }),
    ...(apart && own.length > 0 && { sampler: planMemory({ ...common, ...alone, samplers: own }) }),
    auxiliary: others.map((one, i) => {
      const places = sites.of(i)
      if (!one || places.length === 0) return undefined
      const share = options.auxiliary?.[i]?.memoryFraction ?? 0.9
      if (one.sampler) return planMemory({ ...alone, share, samplers: [one.sampler] })
      return planMemory({ ...alone, share, ranks: places.flat().length, models: one.reward ? [one.reward] : [] })
    }),
  }
}

/** Models that one GPU is too small for, of those that have several for each engine. Without a known GPU none is. */
export async function tooLargeOf(
  config: Config,
  needs: TrainingNeeds,
  read: ReadModel,
  findCard: () => Promise<Card | undefined>,
): Promise<TooLarge> {
  const found = new Set<'rollout' | number>()
  const several = ({ gpu_per_engine: gpus, data_parallel_size: copies }: InferenceModelConfig) => gpus / copies > 1
  const { rollout_model: rollout, auxiliary_models: others } = config.explorer
  // in this order: to ask for the card takes up to seconds
  const card = [rollout, ...others].some(several) ? await findCard() : undefined
  if (!card) return found
  const plans = await planTorch(config, needs, read)
  const misfit = (plan: MemoryPlan | undefined) => plan && plan.samplers.length > 0 && misfits(plan, card).length > 0
  if (several(rollout) && misfit(plans?.sampler)) found.add('rollout')
  for (const [i, one] of others.entries()) if (several(one) && misfit(plans?.auxiliary?.[i])) found.add(i)
  return found
}

/** What the workers have to find free; nothing for models that the plan cannot read, though Transformers may. */
export async function torchNeeds(
  config: Config,
  { needs, readModel, note }: Pick<EngineContext, 'needs' | 'readModel' | 'note'>,
  findCard: () => Promise<Card | undefined>,
): Promise<{ memory?: MemoryNeeds; tooLarge: TooLarge }> {
  try {
    const tooLarge = await tooLargeOf(config, needs, readModel, findCard)
    const plans = await planTorch(config, needs, readModel, tooLarge)
    const need = (plan: MemoryPlan | undefined) => plan && needOf(plan, adviceFor(plan))
    const memory = plans && {
      trainer: need(plans.trainer),
      sampler: need(plans.sampler),
      auxiliary: plans.auxiliary?.map(need),
    }
    return { memory, tooLarge }
  } catch (error) {
    if (!(error instanceof TrinityError && error.code.startsWith('model/'))) throw error
    note(`GPU memory is not planned: ${error.message}`)
    return { tooLarge: new Set() }
  }
}

/** The plan in words, compared with a GPU where one is known. */
export async function memoryWords(
  config: Config,
  needs: TrainingNeeds,
  read: ReadModel,
  card?: Card,
): Promise<MemoryWords> {
  const plans = await planTorch(config, needs, read, await tooLargeOf(config, needs, read, async () => card))
  if (!plans) return { lines: [], warnings: [] }
  const { trainer, sampler, auxiliary = [] } = plans
  const named = [
    ['trainer', trainer],
    ['sampler', sampler],
    ...auxiliary.map((plan, i) => [config.explorer.auxiliary_models[i].name ?? `auxiliary model ${i}`, plan] as const),
  ] as const
  const parts = named.flatMap(([part, plan]) => (plan ? [{ part, plan }] : []))
  const lines: PlanLine[] = []
  const warnings: string[] = []
  for (const { part, plan } of parts) {
    const [first, ...rest] = memoryText(plan, card)
    lines.push(['memory', `${whose(part, plan, parts.length)}, about: ${first}`])
    lines.push(...rest.map((text): PlanLine => ['', text]))
    for (const { phase, text } of card ? misfits(plan, card) : []) warnings.push(`${text} (${adviceFor(plan)(phase)})`)
  }
  if (!card) {
    lines.push(['', 'not compared: no GPU is visible here (--gpu-memory 80GB compares with one of that size)'])
  }
  return { lines, warnings }
}

function whose(part: string, { ranks, samplers }: MemoryPlan, count: number): string {
  const parts = samplers[0]?.parts ?? 1
  if (parts > 1) return `each of ${parts} GPUs of a ${part}`
  if (ranks > 1) return `each of ${ranks} GPUs`
  return count > 1 ? `a GPU of the ${part}` : 'one GPU'
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
  const sites = new Sites(options).of()
  return {
    name: 'sampler',
    config: policy,
    options: { dtype: options.policy?.dtype },
    // those of a trainer elsewhere come by files, through main memory
    copies: sites.length > 0 ? (config.mode === 'both' ? 2 : 1) : shares ? 0 : 1,
    maxModelLen: Math.min(max_model_len ?? policy.maxPositions, policy.maxPositions),
    maxBatch: options.maxBatch,
    parts: sites[0]?.length,
  }
}

interface PlannedAuxiliary {
  readonly sampler?: PlannedSampler
  readonly reward?: PlannedModel
}

/** Undefined where a model is not one of this engine. */
function auxiliaryModels(
  config: Config,
  options: TorchOptions,
  read: ReadModel,
): Promise<(PlannedAuxiliary | undefined)[]> {
  const sites = new Sites(options)
  return Promise.all(
    config.explorer.auxiliary_models.map(async (one, i): Promise<PlannedAuxiliary | undefined> => {
      if (one.engine_type !== 'torch') return undefined
      const model = await read(one.model_path ?? '')
      const name = one.name ?? `auxiliary model ${i}`
      if (model.head !== 'lm') {
        const size = { tokens: REWARD_TOKENS, longest: REWARD_TOKENS }
        return { reward: { name, config: model, head: 'reward', options: options.reference ?? {}, ...size } }
      }
      const maxModelLen = Math.min(one.max_model_len ?? model.maxPositions, model.maxPositions)
      const { maxBatch } = options.auxiliary?.[i] ?? {}
      const parts = sites.of(i)[0]?.length
      const how = { options: { dtype: options.policy?.dtype }, copies: 1, maxModelLen, maxBatch, parts } as const
      return { sampler: { name, config: model, ...how } }
    }),
  )
}
