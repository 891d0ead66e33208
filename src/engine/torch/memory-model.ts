import type { ModelConfig } from '../../model/config.js'
import { parameterCount } from '../../model/layout.js'
import type { Head, LoraSpec } from '../contract.js'
import { isChosen, type LoraTarget, loraTargets } from '../lora-targets.js'
import type { TorchModelOptions } from './options.js'

/** Something that takes memory of a device. */
export interface MemoryItem {
  readonly what: string
  readonly bytes: number
}

/** A model of a job, with what decides how much memory it takes. */
export interface PlannedModel {
  readonly name: string
  readonly config: ModelConfig
  readonly head: 'lm' | 'value' | 'reward'
  readonly options: TorchModelOptions
  /** Absent: it only computes scores. */
  readonly trains?: {
    readonly lora?: LoraSpec
    readonly checkpointing: boolean
    /** Rows of a bundle meet in the loss, so their logits exist together. */
    readonly bundles: boolean
  }
  /** Tokens of a micro-batch on one device, and of the longest row. */
  readonly tokens: number
  readonly longest: number
}

/** Logits of one chunk, in numbers (trinity_torch/network/head.py). */
export const CHUNK = 2 ** 29
/** Numbers of a bucket that passes through the device, and how many there are at a time (trinity_torch/train/offload.py). */
export const BUCKET = 2 ** 25
export const SLOTS = 3
/** Lengths of micro-batches are rounded up to this (trinity_torch/network/rows.py). */
export const ALIGN = 128
/** Parameters from which on layers are compiled unless told otherwise (trinity_torch/train/model.py). */
export const COMPILED_FROM = 10 ** 8
/** What the allocator cannot use between blocks, and what this arithmetic does not know of. */
const SLACK = 1.1
/** Layers that exist whole where weights are sharded: the one that is computed and the one that comes. */
const WHOLE_LAYERS = 2

export function sizeOf(options: TorchModelOptions): 2 | 4 {
  return options.dtype === 'float32' ? 4 : 2
}

/** What stays on one of `ranks` devices as long as the model is open. */
export function standingOf(model: PlannedModel, ranks: number): MemoryItem[] {
  const { name, options } = model
  const { trained, frozen } = parameters(model)
  const number = sizeOf(options)
  const several = ranks > 1
  const away = options.paramOffload === true
  if (!model.trains) return away ? [] : [{ what: `${name}: weights`, bytes: ((trained + frozen) * number) / ranks }]
  // sharded weights, and float32 ones that stay on the device, are their own masters
  const separate = !several && (number < 4 || away || options.optimizerOffload === true)
  const masters = separate ? (options.optimizerOffload ? 0 : 4 * trained) : 0
  const computed = separate ? number * (trained + frozen) : 4 * trained + number * frozen
  const gradients = several && away ? 0 : 4 * trained
  return [
    { what: `${name}: weights`, bytes: away ? 0 : computed },
    { what: 'float32 weights', bytes: masters },
    { what: 'gradients', bytes: gradients },
    { what: 'moments', bytes: options.optimizerOffload ? 0 : 8 * trained },
  ]
    .map(({ what, bytes }) => ({ what, bytes: bytes / ranks }))
    .filter(({ bytes }) => bytes > 0)
}

/** What a micro-batch with gradients takes on top. */
export function trainingOf(model: PlannedModel, ranks: number): MemoryItem[] {
  const { config, options, trains } = model
  const number = sizeOf(options)
  const tokens = aligned(model.tokens)
  const layer = tokens * number * numbersPerToken(model)
  const inputs = tokens * number * config.hiddenSize * (config.layers + 2)
  const kept = trains?.checkpointing ? inputs + layer : layer * config.layers + inputs / (config.layers + 2)
  // the backward pass begins where the head ends: derivatives of a layer, or logits with theirs
  const logits = model.head === 'lm' ? headRows(model) * config.vocabSize * (4 + number) : 0
  const items = [
    { what: `activations of ${tokens} tokens`, bytes: SLACK * (kept + Math.max(0, layer - logits)) },
    { what: 'logits', bytes: SLACK * logits },
    ...presence(model, ranks, true),
  ].filter(({ bytes }) => bytes > 0)
  const step = options.optimizerOffload ? shuttleOf(parameters(model).trained / ranks) : 0
  return step > total(items) ? [{ what: 'optimizer step', bytes: step }] : items
}

/** What a micro-batch without gradients takes on top. */
export function scoringOf(model: PlannedModel, ranks: number): number {
  const { config, options } = model
  const tokens = aligned(model.tokens)
  const logits = model.head === 'lm' ? Math.min(tokens, chunkRows(config)) * config.vocabSize * 4 : 0
  const layer = tokens * sizeOf(options) * (numbersPerToken(model) + 2 * config.hiddenSize)
  return SLACK * (layer + logits) + total(presence(model, ranks, false))
}

/** Weights that are on the device only while they are used. */
function presence(model: PlannedModel, ranks: number, backward: boolean): MemoryItem[] {
  const { config, options } = model
  const { trained, frozen } = parameters(model)
  const number = sizeOf(options)
  if (ranks === 1) {
    return options.paramOffload ? [{ what: 'weights', bytes: number * (trained + frozen) }] : []
  }
  const layer = (parameterCount(config, 'none') - config.vocabSize * config.hiddenSize) / config.layers
  const rest = trained + frozen - layer * config.layers
  // their gradients, too, are whole for a moment: in the type of the weights, and in float32 to be summed
  const derivative = backward && !model.trains?.lora ? number + 4 : 0
  return [{ what: 'whole layers', bytes: number * WHOLE_LAYERS * layer + number * rest + derivative * (layer + rest) }]
}

/** Numbers that one layer keeps of each token for the backward pass. */
function numbersPerToken(model: PlannedModel): number {
  const { config, options, trains } = model
  const { trained, frozen } = parameters(model)
  const { hiddenSize: hidden, intermediateSize: inner } = config
  const q = config.heads * config.headDim
  const kv = config.kvHeads * config.headDim
  // Both residuals and both normalized inputs and the output; q, k, v before and q, k after the rotation; the output of
  // the attention; gate, up and their product.
  const compiled = 5 * hidden + (q + 2 * kv) + (q + kv) + q + 3 * inner
  // each operation keeps its own: float32 copies in norms, halves of rotations, the gate's activation
  const eager = !(options.compile ?? trained + frozen >= COMPILED_FROM) ? 8 * hidden + 2 * (q + kv) + inner : 0
  const layered = trains?.lora ? targets(config, model.head, trains.lora).filter((target) => target.layered) : []
  const adapters = layered.length * (trains?.lora?.rank ?? 0)
  return compiled + eager + adapters
}

export function parameters({ config, head, trains }: PlannedModel): { trained: number; frozen: number } {
  const all = parameterCount(config, head === 'lm' ? 'lm' : 'none') + (head === 'lm' ? 0 : config.hiddenSize)
  if (!trains) return { trained: 0, frozen: all }
  if (!trains.lora) return { trained: all, frozen: 0 }
  const { rank } = trains.lora
  const adapters = targets(config, head, trains.lora).reduce(
    (sum, one) => sum + rank * (one.in + one.out) * one.modules.length,
    0,
  )
  const scorer = head === 'value' ? config.hiddenSize : 0
  return { trained: adapters + scorer, frozen: all - scorer }
}

function targets(config: ModelConfig, head: Head, lora: LoraSpec): LoraTarget[] {
  return loraTargets(config, head).filter((target) => isChosen(target, lora))
}

function chunkRows({ vocabSize }: ModelConfig): number {
  return Math.max(128, Math.floor(CHUNK / vocabSize))
}

/** Scored tokens whose logits exist together: a chunk, or what the loss couples where that is longer. */
function headRows({ config, tokens, longest, trains }: PlannedModel): number {
  const chunk = chunkRows(config)
  const unit = trains?.bundles ? tokens : longest
  return Math.min(aligned(tokens), unit > 4 * chunk ? (trains?.bundles ? 4 * chunk : chunk) : Math.max(chunk, unit))
}

/** Masters and both moments of some buckets. */
function shuttleOf(trained: number): number {
  return SLOTS * 3 * 4 * Math.min(BUCKET, trained)
}

function aligned(tokens: number): number {
  return Math.ceil(tokens / ALIGN) * ALIGN
}

export function total(items: readonly MemoryItem[]): number {
  return items.reduce((sum, { bytes }) => sum + bytes, 0)
}
