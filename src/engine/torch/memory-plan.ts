import type { ModelConfig } from '../../model/config.js'
import { parameterCount } from '../../model/layout.js'
import { type MemoryItem, type PlannedModel, scoringOf, sizeOf, standingOf, total, trainingOf } from './memory-model.js'
import type { MemoryNeed, TorchModelOptions } from './options.js'

/** A sampler on the device. */
export interface PlannedSampler {
  readonly name: string
  readonly config: ModelConfig
  readonly options: TorchModelOptions
  /** Sets of weights of its own: none where it reads the trainer's, two where new ones arrive beside those in use. */
  readonly copies: 0 | 1 | 2
  readonly maxModelLen: number
  /** Sequences of a decode step; default what the sampler takes by itself. */
  readonly maxBatch?: number
  /** Devices that share its layers and its cache; default 1. */
  readonly parts?: number
}

export interface PlanInput {
  /** Devices over which models are sharded. */
  readonly ranks: number
  readonly models: readonly PlannedModel[]
  /** The first one's cache takes what is left. */
  readonly samplers: readonly PlannedSampler[]
  /** Share of the memory that may be filled while sampling. */
  readonly share: number
  /** Sampling and training take turns, so that the cache may be where activations were. */
  readonly turns: boolean
}

/** Keys and values. At least one sequence fits, and more than a full batch of them is of no use. */
export interface PlannedCache {
  readonly perToken: number
  readonly least: number
  readonly most: number
}

/** Device memory of a job, the same on each of `ranks` devices. All sizes in bytes. */
export interface MemoryPlan extends PlanInput {
  /** As long as the models are open. */
  readonly standing: readonly MemoryItem[]
  /** On top while the trainer computes: of the model that takes most. */
  readonly training: readonly MemoryItem[]
  readonly scoring: number
  /** On top while sampling, without the cache. */
  readonly rollout: readonly MemoryItem[]
  readonly cache?: PlannedCache
}

/** CUDA's context, kernels, workspaces of cuBLAS and cuDNN; with several processes also NCCL's buffers. */
const CONTEXT = 1.5 * 2 ** 30
const NCCL = 2 ** 30
/** Sequences of a decode step, and prompt tokens that are computed at once (trinity_torch/sampler). */
export const MAX_BATCH = 1024
export const PREFILL = 8192

export function planMemory(input: PlanInput): MemoryPlan {
  const { ranks, models, samplers } = input
  const trained = models.filter(({ trains }) => trains).map((model) => trainingOf(model, ranks))
  const linked = ranks > 1 || samplers.some(({ copies, parts = 1 }) => copies === 2 || parts > 1)
  return {
    ...input,
    standing: [
      ...models.flatMap((model) => standingOf(model, ranks)),
      ...samplers.flatMap(samplerWeights),
      { what: 'CUDA', bytes: CONTEXT + (linked ? NCCL : 0) },
    ],
    training: trained.reduce<MemoryItem[]>((most, one) => (total(one) > total(most) ? one : most), []),
    scoring: Math.max(0, ...models.map((model) => scoringOf(model, ranks))),
    rollout: rolloutOf(samplers),
    cache: samplers.length > 0 ? cacheOf(samplers[0]) : undefined,
  }
}

function samplerWeights({ name, config, options, copies, parts = 1 }: PlannedSampler): MemoryItem[] {
  // embedding and head are whole on every device
  const ends = (config.tieEmbeddings ? 1 : 2) * config.vocabSize * config.hiddenSize
  const bytes = sizeOf(options) * (ends + (parameterCount(config, 'lm') - ends) / parts)
  const own = copies > 0 ? [{ what: `${name}: weights`, bytes }] : []
  return copies > 1 ? [...own, { what: 'new weights that arrive', bytes }] : own
}

/** A piece of prompts on its way through a layer, and logits of a decode step with what drawing makes of them. */
function rolloutOf(samplers: readonly PlannedSampler[]): MemoryItem[] {
  const sizes = samplers.map(({ config, options, maxBatch = MAX_BATCH, parts = 1 }) => {
    const heads = (config.heads + 2 * config.kvHeads) * config.headDim
    const inner = (3 * config.intermediateSize + heads) / parts
    return PREFILL * sizeOf(options) * (inner + 4 * config.hiddenSize) + 2 * maxBatch * config.vocabSize * 4
  })
  const [first, ...others] = samplers
  return [
    ...(first ? [{ what: 'prompts and logits', bytes: Math.max(...sizes) }] : []),
    ...others.map((one) => ({ what: `${one.name}: cache`, bytes: cacheOf(one).least })),
  ]
}

function cacheOf({ config, options, maxModelLen, maxBatch = MAX_BATCH, parts = 1 }: PlannedSampler): PlannedCache {
  const perToken = (2 * config.layers * config.kvHeads * config.headDim * sizeOf(options)) / parts
  return { perToken, least: perToken * maxModelLen, most: perToken * maxModelLen * maxBatch }
}

export interface Phase {
  readonly name: string
  readonly bytes: number
  /** Of the device's memory, what may be filled. */
  readonly share: number
}

/** What lies on the device at a time. */
export function phasesOf(plan: MemoryPlan): Phase[] {
  const { cache, share, turns } = plan
  const standing = total(plan.standing)
  const rollout = cache ? total(plan.rollout) + cache.least : 0
  const training = Math.max(total(plan.training), plan.models.length > 0 ? plan.scoring : 0)
  const phases: Phase[] = []
  if (training > 0) {
    const name = cache && !turns ? 'training beside rollout' : 'training'
    phases.push({ name, bytes: standing + training + (turns ? 0 : rollout), share: 1 })
  }
  if (cache) phases.push({ name: 'rollout', bytes: standing + rollout, share })
  return phases
}

/** The cache on a device of this size; undefined: there is no sampler. */
export function cacheOn(plan: MemoryPlan, size: number): { bytes: number; stays: boolean } | undefined {
  if (!plan.cache) return undefined
  const standing = total(plan.standing)
  const beside = plan.turns ? 0 : total(plan.training)
  const room = size * plan.share - standing - total(plan.rollout) - beside
  const bytes = Math.max(0, Math.min(room, plan.cache.most))
  return { bytes, stays: !plan.turns || standing + total(plan.training) + bytes <= size }
}

/** As a worker takes it. `hint`: what to change when a phase does not fit. */
export function needOf(plan: MemoryPlan, hint: (phase: Phase) => string): MemoryNeed {
  return {
    standing: Math.ceil(total(plan.standing)),
    training: Math.ceil(total(plan.training)),
    scoring: Math.ceil(plan.scoring),
    rollout: Math.ceil(total(plan.rollout)),
    phases: phasesOf(plan).map((phase) => ({ ...phase, bytes: Math.ceil(phase.bytes), hint: hint(phase) })),
  }
}
