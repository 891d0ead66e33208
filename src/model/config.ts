import type { JsonObject } from '../base/file/json-file.js'
import { architectureOf, type Family, type ModelHead } from './architecture.js'
import { ConfigReader } from './config-reader.js'
import { type FloatDtype, floatDtype } from './dtype.js'
import { layersWithoutPositions, readWindows } from './layer-kinds.js'
import { parseRope, type Rope } from './rope.js'

/** What an engine must know of a decoder-only transformer; the same for every family. */
export interface ModelConfig {
  /** As in config.json: `LlamaForCausalLM`. */
  readonly architecture: string
  readonly family: Family
  readonly head: ModelHead
  readonly hiddenSize: number
  readonly layers: number
  readonly heads: number
  readonly kvHeads: number
  readonly headDim: number
  readonly intermediateSize: number
  readonly vocabSize: number
  readonly maxPositions: number
  readonly rmsEps: number
  readonly rope: Rope
  readonly tieEmbeddings: boolean
  /** Biases of the q, k and v projections. */
  readonly qkvBias: boolean
  readonly outBias: boolean
  readonly mlpBias: boolean
  /** RMSNorm of q and k before the rotation: none, of each head, or of all heads together. */
  readonly qkNorm: 'none' | 'head' | 'whole'
  /** Layers norm what attention and feed-forward part give, instead of what they take. */
  readonly normAfter: boolean
  /** Of each layer: the tokens that it sees, its own included; 0: all before it. Absent: all layers see all. */
  readonly windows?: readonly number[]
  /** Layers without positions. Absent: all rotate. */
  readonly unturned?: readonly number[]
  /** Outputs of the `sequence` and `token` heads. */
  readonly labels: number
  readonly initRange: number
  /** What the weights are stored as, where the file says it. */
  readonly dtype?: FloatDtype
  readonly bosTokenId?: number
  readonly eosTokenIds: readonly number[]
  readonly padTokenId?: number
}

/** Enough for any model of these families, and a bound on what a hostile file can make us loop over. */
const maxLayers = 4096

/** What a family takes where its file says nothing. */
const defaults: Record<Family, { positions: number; kvHeads?: number; eps?: number; theta?: number; tied?: boolean }> =
  {
    llama: { positions: 2048 },
    mistral: { positions: 131072, kvHeads: 8 },
    olmo2: { positions: 2048, eps: 1e-5 },
    qwen2: { positions: 32768 },
    qwen3: { positions: 32768 },
    smollm3: { positions: 32768, kvHeads: 4, theta: 2e6, tied: true },
  }

const qkNorms: Partial<Record<Family, ModelConfig['qkNorm']>> = { qwen3: 'head', olmo2: 'whole' }

/** Normalizes a Hugging Face config.json. `path` is what errors name. */
export function parseModelConfig(json: JsonObject, path = 'config.json'): ModelConfig {
  const config = new ConfigReader(json, path)
  const { architecture, family, head } = readArchitecture(config, path)
  const hiddenSize = config.integer('hidden_size', { min: 1 })
  const heads = config.integer('num_attention_heads', { min: 1 })
  const usual = defaults[family]
  const kvDefault = (!Object.hasOwn(json, 'num_key_value_heads') && usual.kvHeads) || heads
  const kvHeads = config.integer('num_key_value_heads', { min: 1, fallback: kvDefault })
  if (heads % kvHeads !== 0) throw config.wrong('num_key_value_heads', kvHeads, `a divisor of ${heads}`)
  const headDim = readHeadDim(config, family, hiddenSize, heads)
  const layers = config.integer('num_hidden_layers', { min: 1, max: maxLayers })
  const maxPositions = config.integer('max_position_embeddings', {
    min: 1,
    fallback: usual.positions,
  })
  const bias = family !== 'mistral' && family !== 'qwen2' && config.flag('attention_bias', false)
  refuseUnsupported(config)
  const unturned = family === 'smollm3' ? layersWithoutPositions(config, layers) : undefined
  const windows = readWindows(config, json, { family, layers, unturned })
  return {
    architecture,
    family,
    head,
    hiddenSize,
    layers,
    heads,
    kvHeads,
    headDim,
    intermediateSize: config.integer('intermediate_size', { min: 1 }),
    vocabSize: config.integer('vocab_size', { min: 1 }),
    maxPositions,
    rmsEps: config.positive('rms_norm_eps', usual.eps ?? 1e-6),
    rope: parseRope(config, maxPositions, usual.theta),
    tieEmbeddings: config.flag('tie_word_embeddings', usual.tied ?? false),
    qkvBias: family === 'qwen2' || bias,
    outBias: bias,
    mlpBias: (family === 'llama' || family === 'smollm3') && config.flag('mlp_bias', false),
    qkNorm: qkNorms[family] ?? 'none',
    normAfter: family === 'olmo2',
    // A window that holds the longest sequence is none.
    windows: windows?.some((window) => window > 0 && window < maxPositions) ? windows : undefined,
    unturned,
    labels: readLabels(config),
    initRange: config.positive('initializer_range', 0.02),
    dtype: floatDtype(config.text('dtype', config.text('torch_dtype', ''))),
    bosTokenId: config.tokenIds('bos_token_id')[0],
    eosTokenIds: config.tokenIds('eos_token_id'),
    padTokenId: config.tokenIds('pad_token_id')[0],
  }
}

function readArchitecture(config: ConfigReader, path: string) {
  const [architecture] = config.texts('architectures')
  if (architecture === undefined) throw config.wrong('architectures', undefined, 'a list such as ["LlamaForCausalLM"]')
  return {
    architecture,
    ...architectureOf(architecture, config.has('model_type') ? config.text('model_type', '') : undefined, path),
  }
}

function readHeadDim(config: ConfigReader, family: Family, hiddenSize: number, heads: number): number {
  const fallback = family === 'qwen3' ? 128 : Math.floor(hiddenSize / heads)
  if (!config.has('head_dim') && family !== 'qwen3' && hiddenSize % heads !== 0) {
    throw config.wrong('hidden_size', hiddenSize, `a multiple of num_attention_heads, which is ${heads}`)
  }
  const headDim = config.integer('head_dim', { min: 2, fallback })
  if (headDim % 2 !== 0) throw config.wrong('head_dim', headDim, 'an even number (pairs are rotated)')
  return headDim
}

/** Transformers counts labels by `id2label`; it is 2 where nothing is said. */
function readLabels(config: ConfigReader): number {
  if (config.has('num_labels')) return config.integer('num_labels', { min: 1, max: 65536 })
  return config.object('id2label')?.size ?? 2
}

function refuseUnsupported(config: ConfigReader): void {
  const act = config.text('hidden_act', 'silu')
  if (act !== 'silu' && act !== 'swish') throw config.unsupported(`hidden_act '${act}'`, 'supported: silu')
  if (config.has('quantization_config')) {
    throw config.unsupported('the weights are quantized', 'use the f32, f16 or bf16 version of this model')
  }
}
