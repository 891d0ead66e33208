import { TrinityError } from '../../base/error.js'
import type { ModelConfig } from '../../model/config.js'
import { inverseFrequencies, ropeStrength } from '../../model/rope.js'
import type { ModelSpec } from '../contract.js'
import type { NativeConfig } from './addon.js'
import type { Lora } from './lora.js'

/** Everything the addon must know to make room for a model. */
export function nativeConfig(config: ModelConfig, spec: ModelSpec, trainable: boolean, lora?: Lora): NativeConfig {
  return {
    hidden: config.hiddenSize,
    layers: config.layers,
    heads: config.heads,
    kvHeads: config.kvHeads,
    headDim: config.headDim,
    inner: config.intermediateSize,
    vocab: config.vocabSize,
    maxLen: maxModelLen(config, spec),
    padId: config.padTokenId ?? -1,
    eps: config.rmsEps,
    tied: config.tieEmbeddings,
    qkvBias: config.qkvBias,
    outBias: config.outBias,
    mlpBias: config.mlpBias,
    qkNorm: config.qkNorm !== 'none',
    wideNorm: config.qkNorm === 'whole',
    normAfter: config.normAfter,
    windows: Int32Array.from(config.windows ?? []),
    unturned: Int32Array.from(config.unturned ?? []),
    head: spec.head ?? 'lm',
    trainable,
    checkpointing: spec.gradientCheckpointing ?? false,
    adapters: lora?.modules ?? [],
    invFreq: inverseFrequencies(config.rope, config.headDim),
    ropeScale: ropeStrength(config.rope),
  }
}

function maxModelLen(config: ModelConfig, spec: ModelSpec): number {
  const wanted = spec.maxModelLen ?? config.maxPositions
  if (Number.isInteger(wanted) && wanted >= 1 && wanted <= config.maxPositions) return wanted
  throw new TrinityError('engine/max-model-len', `max_model_len is ${wanted}, the model has ${config.maxPositions}`, {
    path: spec.path,
    hint: `use 1 … ${config.maxPositions}, or leave it out`,
  })
}
