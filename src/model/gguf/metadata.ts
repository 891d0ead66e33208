import { isNear, type ModelConfig } from '../config.js'
import { type Rope, rotatedDims } from '../rope.js'
import { architectures, contextOf } from './family.js'
import { type FileType, fileTypes } from './file-type.js'
import type { Entry } from './write.js'

type Entries = Record<string, Entry | undefined>

const count = (value: number): Entry => ({ type: 'u32', value })
const real = (value: number): Entry => ({ type: 'f32', value })
const text = (value: string): Entry => ({ type: 'text', value })

/** What llama.cpp must know of a model besides its tensors and its tokenizer. */
export function modelMetadata(config: ModelConfig, type: FileType, name: string): Map<string, Entry> {
  const architecture = architectures[config.family]
  const own: Entries = {
    block_count: count(config.layers),
    context_length: count(contextOf(config)),
    embedding_length: count(config.hiddenSize),
    feed_forward_length: count(config.intermediateSize),
    'attention.head_count': count(config.heads),
    'attention.head_count_kv': count(config.kvHeads),
    'attention.key_length': count(config.headDim),
    'attention.value_length': count(config.headDim),
    'attention.layer_norm_rms_epsilon': real(config.rmsEps),
    vocab_size: count(config.vocabSize),
    'rope.dimension_count': count(rotatedDims(config.rope, config.headDim)),
    'rope.freq_base': real(config.rope.theta),
    ...ropeEntries(config.rope),
    ...gemmaEntries(config),
    ...expertEntries(config),
  }
  return new Map<string, Entry>([
    ['general.architecture', text(architecture)],
    ['general.type', text('model')],
    ['general.name', text(name)],
    ['general.file_type', count(fileTypes[type].number)],
    ['general.quantization_version', count(2)],
    ...Object.entries(own).flatMap(([key, entry]): [string, Entry][] =>
      entry ? [[`${architecture}.${key}`, entry]] : [],
    ),
  ])
}

/** By how much llama.cpp strengthens a yarn rotation by itself. */
export const yarnStrength = (factor: number): number => (factor <= 1 ? 1 : 0.1 * Math.log(factor) + 1)

function ropeEntries({ scaling }: Rope): Entries {
  switch (scaling.type) {
    case 'linear':
      return { 'rope.scaling.type': text('linear'), 'rope.scaling.factor': real(scaling.factor) }
    case 'yarn':
      return {
        'rope.scaling.type': text('yarn'),
        'rope.scaling.factor': real(scaling.factor),
        'rope.scaling.original_context_length': count(scaling.originalMaxPositions),
        'rope.scaling.attn_factor': real(scaling.attentionFactor / yarnStrength(scaling.factor)),
        'rope.scaling.yarn_beta_fast': real(scaling.betaFast),
        'rope.scaling.yarn_beta_slow': real(scaling.betaSlow),
      }
    case 'longrope':
      return {
        'rope.scaling.original_context_length': count(scaling.originalMaxPositions),
        'rope.scaling.attn_factor': real(scaling.attentionFactor),
      }
    default:
      return {}
  }
}

function gemmaEntries(config: ModelConfig): Entries {
  const { unitNorms, attentionCap, logitCap, windows, near, layers, maxPositions } = config
  if (!unitNorms) return {}
  const pattern = Array.from({ length: layers }, (_, layer) => isNear(config, layer))
  return {
    attn_logit_softcapping: attentionCap === undefined ? undefined : real(attentionCap),
    final_logit_softcapping: logitCap === undefined ? undefined : real(logitCap),
    // Without one, a window of its own choice would be taken; one that holds everything is none.
    'attention.sliding_window': count(windows ? Math.max(...windows) : maxPositions),
    'attention.sliding_window_pattern': { type: 'bools', value: pattern },
    'rope.freq_base_swa': near && real(near.rope.theta),
  }
}

function expertEntries({ experts }: ModelConfig): Entries {
  if (!experts) return {}
  return {
    expert_count: count(experts.count),
    expert_used_count: count(experts.active),
    expert_feed_forward_length: count(experts.inner),
  }
}
