import type { ModelConfig } from './config.js'
import { modelLayout, parameterCount } from './layout.js'

/** Bytes that a model needs, in f32 as the native engine computes. */
export interface MemoryEstimate {
  readonly parameters: number
  /** Parameters that a token is multiplied with: all but the embedding table it is looked up in. */
  readonly computedParameters: number
  readonly weights: number
  /** Weights, gradients and both moments of AdamW: 16 bytes per parameter. */
  readonly training: number
  /** Activations kept for the backward pass, per token of a micro-batch. */
  readonly activationsPerToken: number
  /** With one layer's activations at a time (gradient checkpointing). */
  readonly checkpointedPerToken: number
  /** Keys and values, per token in the cache of a sampler. */
  readonly cachePerToken: number
  /** Floating-point operations of a training step per token, without attention. */
  readonly trainingFlopsPerToken: number
}

/** The bytes and the arithmetic that a model of this shape asks for. */
export function estimateMemory(config: ModelConfig): MemoryEstimate {
  const parameters = parameterCount(config)
  const embedding = modelLayout(config, 'none')[0].shape.reduce((size, n) => size * n, 1)
  // Tied tables are used as the output matrix as well.
  const computedParameters = config.head === 'lm' && config.tieEmbeddings ? parameters : parameters - embedding
  const q = config.heads * config.headDim
  const kv = config.kvHeads * config.headDim
  // Per layer: input, two normalized inputs, middle residual; q, attention output; k, v; gate, up, their product.
  // Of experts: their inputs and results, and what is between, for each that a token goes through.
  const feed = config.experts
    ? config.experts.active * (3 * config.experts.inner + 2 * config.hiddenSize) + config.experts.count
    : 3 * config.intermediateSize
  const perLayer = 4 * (4 * config.hiddenSize + 2 * q + 2 * kv + feed)
  return {
    parameters,
    computedParameters,
    weights: 4 * parameters,
    training: 16 * parameters,
    activationsPerToken: config.layers * perLayer,
    checkpointedPerToken: config.layers * 4 * config.hiddenSize + perLayer,
    cachePerToken: config.layers * 2 * kv * 4,
    trainingFlopsPerToken: 6 * computedParameters,
  }
}
