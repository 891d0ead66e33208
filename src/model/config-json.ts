import { join } from 'node:path'
import { writeJsonFile } from '../base/file/atomic-file.js'
import type { JsonObject } from '../base/file/json-file.js'
import { asFloats } from '../base/json-numbers.js'
import { architectureName } from './architecture.js'
import { isNear, type ModelConfig } from './config.js'
import { dtypeName } from './dtype.js'
import { ropeScalingJson } from './rope.js'

/** Keys of config.json that Transformers declares as float. Its strict reader refuses an integer there. */
const strictFloats: ReadonlySet<string> = new Set([
  ...['initializer_range', 'rms_norm_eps', 'router_aux_loss_coef'],
  ...['attn_logit_softcapping', 'final_logit_softcapping'],
])

/** Further keys that Transformers writes as floats. Some releases warn about an integer there. */
const floats: ReadonlySet<string> = new Set([
  ...strictFloats,
  ...['rope_theta', 'rope_local_base_freq', 'partial_rotary_factor', 'factor', 'attention_factor'],
  ...['low_freq_factor', 'high_freq_factor', 'beta_fast', 'beta_slow', 'short_factor', 'long_factor'],
])

/** Returns a config.json that was made here with its floats written as floats. */
export const withFloats = (json: JsonObject): JsonObject => asFloats(json, floats)

/** Writes config.json. Numbers keep the spelling that they were read with; integers that strict readers refuse become floats. */
export async function writeModelConfig(dir: string, json: JsonObject): Promise<void> {
  await writeJsonFile(join(dir, 'config.json'), asFloats(json, strictFloats))
}

/** config.json of a model, in the spelling that every release of Transformers reads. */
export function modelConfigJson(config: ModelConfig): JsonObject {
  const labels = config.head === 'lm' ? {} : { id2label: numbered(config.labels), label2id: inverted(config.labels) }
  return withFloats({
    architectures: [architectureName(config.family, config.head)],
    model_type: config.family,
    hidden_size: config.hiddenSize,
    intermediate_size: config.intermediateSize,
    num_hidden_layers: config.layers,
    num_attention_heads: config.heads,
    num_key_value_heads: config.kvHeads,
    head_dim: config.headDim,
    vocab_size: config.vocabSize,
    max_position_embeddings: config.maxPositions,
    rms_norm_eps: config.rmsEps,
    rope_theta: config.rope.theta,
    rope_scaling: ropeScalingJson(config.rope.scaling),
    ...(config.activation === 'gelu' ? { hidden_activation: 'gelu_pytorch_tanh' } : { hidden_act: 'silu' }),
    tie_word_embeddings: config.tieEmbeddings,
    ...familyKeys(config),
    ...labels,
    initializer_range: config.initRange,
    bos_token_id: config.bosTokenId ?? null,
    eos_token_id: config.eosTokenIds.length === 1 ? config.eosTokenIds[0] : config.eosTokenIds,
    pad_token_id: config.padTokenId ?? null,
    torch_dtype: dtypeName[config.dtype ?? 'F32'],
  })
}

function familyKeys(config: ModelConfig): JsonObject {
  const { family, qkvBias, mlpBias, windows, unturned, layers, rope } = config
  const window = windows && Math.max(...windows)
  switch (family) {
    case 'llama':
      return { attention_bias: qkvBias, mlp_bias: mlpBias }
    case 'mistral':
      return { sliding_window: window ?? null }
    case 'qwen2':
      return sliding(windows)
    case 'qwen3':
      return { attention_bias: qkvBias, ...sliding(windows) }
    case 'qwen3_moe':
      return {
        attention_bias: qkvBias,
        use_sliding_window: window !== undefined,
        sliding_window: window ?? null,
        ...expertKeys(config),
      }
    case 'olmo2':
      return { attention_bias: qkvBias }
    case 'phi3':
      return {
        sliding_window: window ?? null,
        partial_rotary_factor: rope.partial ?? 1,
        ...(rope.scaling.type === 'longrope' && {
          original_max_position_embeddings: rope.scaling.originalMaxPositions,
        }),
      }
    case 'gemma2':
      return gemmaKeys(config)
    case 'gemma3_text':
      return { ...gemmaKeys(config), rope_local_base_freq: config.near?.rope.theta ?? 10000 }
    case 'smollm3':
      return {
        attention_bias: qkvBias,
        mlp_bias: mlpBias,
        ...(unturned && { no_rope_layers: Array.from({ length: layers }, (_, i) => (unturned.includes(i) ? 0 : 1)) }),
        ...sliding(windows),
      }
  }
}

function expertKeys({ experts, layers }: ModelConfig): JsonObject {
  return {
    num_experts: experts?.count ?? 0,
    num_experts_per_tok: experts?.active ?? 1,
    moe_intermediate_size: experts?.inner ?? 1,
    norm_topk_prob: experts?.normalized ?? false,
    decoder_sparse_step: 1,
    mlp_only_layers: Array.from({ length: layers }, (_, i) => i).filter((i) => !experts?.layers.includes(i)),
  }
}

function gemmaKeys(config: ModelConfig): JsonObject {
  const { qkvBias, attentionScale, attentionCap, logitCap, windows, layers, maxPositions } = config
  return {
    attention_bias: qkvBias,
    query_pre_attn_scalar: Math.round(attentionScale ** -2),
    attn_logit_softcapping: attentionCap ?? null,
    final_logit_softcapping: logitCap ?? null,
    sliding_window: windows ? Math.max(...windows) : maxPositions,
    layer_types: Array.from({ length: layers }, (_, i) => (isNear(config, i) ? 'sliding_attention' : 'full_attention')),
  }
}

function sliding(windows: ModelConfig['windows']): JsonObject {
  if (!windows) return { use_sliding_window: false }
  return {
    use_sliding_window: true,
    sliding_window: Math.max(...windows),
    layer_types: windows.map((window) => (window > 0 ? 'sliding_attention' : 'full_attention')),
  }
}

function numbered(count: number): JsonObject {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [String(i), `LABEL_${i}`]))
}

function inverted(count: number): JsonObject {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`LABEL_${i}`, i]))
}
