import type { JsonObject } from '../../base/file/json-file.js'
import type { ConfigReader } from '../config-reader.js'
import type { GgufSizes } from './config.js'
import { gemmaScalar, UNTURNED_EVERY } from './family.js'
import { short } from './short.js'

/** What config.json says in one family only. `biases`: those that the file has. */
export function familyKeys(
  meta: ConfigReader,
  sizes: GgufSizes,
  biases: { attention: boolean; mlp: boolean },
): JsonObject {
  const { family } = sizes
  if (family !== 'qwen3_moe' && meta.integer('expert_count', { min: 0, fallback: 0 }) > 0)
    throw meta.unsupported('a mixture of experts', 'use a model without experts, or Qwen3-MoE')
  const silu = { hidden_act: 'silu' }
  const attention_bias = biases.attention
  switch (family) {
    case 'gemma2':
    case 'gemma3_text':
      return { attention_bias, ...gemmaKeys(meta, sizes) }
    case 'llama':
      return { ...silu, attention_bias, mlp_bias: biases.mlp }
    case 'olmo2':
      if (windowOf(meta) > 0) throw meta.unsupported('windows of OLMo 3', 'use a model of OLMo 2')
      return { ...silu, attention_bias }
    case 'phi3':
      return { ...silu, sliding_window: windowOf(meta) || null }
    case 'qwen3':
      return { ...silu, attention_bias }
    case 'qwen3_moe':
      return { ...silu, attention_bias, ...expertKeys(meta) }
    case 'smollm3':
      return { ...silu, attention_bias, mlp_bias: biases.mlp, no_rope_layer_interval: UNTURNED_EVERY }
    default:
      return silu
  }
}

const windowOf = (meta: ConfigReader, fallback = 0): number =>
  meta.integer('attention.sliding_window', { min: 0, fallback })

function gemmaKeys(meta: ConfigReader, sizes: GgufSizes): JsonObject {
  const { family, layers, maxPositions } = sizes
  const second = family === 'gemma2'
  const cap = (name: string, usual?: number) => (meta.has(name) ? short(meta.positive(name)) : (usual ?? null))
  // What llama.cpp takes where a file says nothing.
  const window = windowOf(meta, second ? 4096 : 0)
  const slides = window > 0 ? slidingLayers(meta, layers, second ? 2 : 6) : []
  return {
    hidden_activation: 'gelu_pytorch_tanh',
    query_pre_attn_scalar: gemmaScalar(sizes),
    attn_logit_softcapping: second ? cap('attn_logit_softcapping', 50) : null,
    final_logit_softcapping: cap('final_logit_softcapping', second ? 30 : undefined),
    sliding_window: window || maxPositions,
    layer_types: Array.from({ length: layers }, (_, i) => (slides[i] ? 'sliding_attention' : 'full_attention')),
    ...(!second && { rope_local_base_freq: short(meta.positive('rope.freq_base_swa', 10000)) }),
  }
}

/** A list, or every so-many-th layer sees all. */
function slidingLayers(meta: ConfigReader, layers: number, usual: number): boolean[] {
  const key = 'attention.sliding_window_pattern'
  const list = meta.flags(key)
  if (list === undefined) {
    const every = meta.integer(key, { min: 1, fallback: usual })
    return Array.from({ length: layers }, (_, i) => (i + 1) % every !== 0)
  }
  if (list.length < layers) throw meta.wrong(key, list.length, `a list of ${layers} flags`)
  return list
}

function expertKeys(meta: ConfigReader): JsonObject {
  return {
    num_experts: meta.integer('expert_count', { min: 1, max: 65536 }),
    num_experts_per_tok: meta.integer('expert_used_count', { min: 1 }),
    moe_intermediate_size: meta.integer('expert_feed_forward_length', { min: 1 }),
    norm_topk_prob: true,
    decoder_sparse_step: 1,
    mlp_only_layers: [],
  }
}
