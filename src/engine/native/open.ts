import type { ModelConfig } from '../../model/config.js'
import { inverseFrequencies } from '../../model/rope.js'
import type { NativeConfig } from './addon.js'

export interface NativeOptions {
  readonly head: NativeConfig['head']
  readonly maxLen: number
  readonly trainable: boolean
  readonly checkpointing?: boolean
  readonly lora?: { readonly rank: number; readonly alpha: number; readonly targets: readonly string[] }
}

/** The configuration as the addon takes it. */
export function nativeConfig(config: ModelConfig, options: NativeOptions): NativeConfig {
  const { lora } = options
  return {
    hidden: config.hiddenSize,
    layers: config.layers,
    heads: config.heads,
    kvHeads: config.kvHeads,
    headDim: config.headDim,
    inner: config.intermediateSize,
    vocab: config.vocabSize,
    maxLen: options.maxLen,
    eps: config.rmsEps,
    tied: config.tieEmbeddings,
    qkvBias: config.qkvBias,
    outBias: config.outBias,
    mlpBias: config.mlpBias,
    qkNorm: config.qkNorm,
    head: options.head,
    trainable: options.trainable,
    checkpointing: options.checkpointing ?? false,
    loraRank: lora?.rank ?? 0,
    loraScale: lora ? lora.alpha / lora.rank : 0,
    loraTargets: lora?.targets ?? [],
    invFreq: inverseFrequencies(config.rope, config.headDim),
  }
}
