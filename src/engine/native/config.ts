import { TrinityError } from '../../base/error.js'
import type { ModelConfig } from '../../model/config.js'
import { inverseFrequencies, ropeStrength } from '../../model/rope.js'
import type { ModelSpec } from '../contract.js'
import type { NativeConfig } from './addon.js'
import type { Lora } from './lora.js'

/** Everything the addon must know to make room for a model. */
export function nativeConfig(config: ModelConfig, spec: ModelSpec, trainable: boolean, lora?: Lora): NativeConfig {
  const maxLen = maxModelLen(config, spec)
  return {
    hidden: config.hiddenSize,
    layers: config.layers,
    heads: config.heads,
    kvHeads: config.kvHeads,
    headDim: config.headDim,
    inner: config.intermediateSize,
    vocab: config.vocabSize,
    maxLen,
    padId: config.padTokenId ?? -1,
    eps: config.rmsEps,
    tied: config.tieEmbeddings,
    qkvBias: config.qkvBias,
    outBias: config.outBias,
    mlpBias: config.mlpBias,
    qkNorm: config.qkNorm !== 'none',
    wideNorm: config.qkNorm === 'whole',
    normBefore: config.norms !== 'after',
    normAfter: config.norms !== 'before',
    normUnit: config.unitNorms ? 1 : 0,
    fused: config.fused,
    gelu: config.activation === 'gelu',
    experts: config.experts?.count ?? 0,
    active: config.experts?.active ?? 0,
    expertInner: config.experts?.inner ?? 0,
    normActive: config.experts?.normalized ?? false,
    sparse: Int32Array.from(config.experts?.layers ?? []),
    embedScale: config.embedScale,
    attentionScale: config.attentionScale,
    attentionCap: config.attentionCap ?? 0,
    logitCap: config.logitCap ?? 0,
    windows: Int32Array.from(config.windows ?? []),
    unturned: Int32Array.from(config.unturned ?? []),
    head: spec.head ?? 'lm',
    trainable,
    checkpointing: spec.gradientCheckpointing ?? false,
    adapters: lora?.modules ?? [],
    invFreq: inverseFrequencies(config.rope, config.headDim, maxLen),
    nearFreq: config.near ? inverseFrequencies(config.near.rope, config.headDim) : new Float32Array(0),
    near: Int32Array.from(config.near?.layers ?? []),
    ropeScale: ropeStrength(config.rope),
  }
}

function maxModelLen(config: ModelConfig, spec: ModelSpec): number {
  const { scaling } = config.rope
  // Sequences beyond it rotate in another way, and so would all of them.
  const usual =
    scaling.type === 'longrope' ? Math.min(scaling.originalMaxPositions, config.maxPositions) : config.maxPositions
  const wanted = spec.maxModelLen ?? usual
  if (Number.isInteger(wanted) && wanted >= 1 && wanted <= config.maxPositions) return wanted
  throw new TrinityError('engine/max-model-len', `max_model_len is ${wanted}, the model has ${config.maxPositions}`, {
    path: spec.path,
    hint: `use 1 … ${config.maxPositions}, or leave it out`,
  })
}
