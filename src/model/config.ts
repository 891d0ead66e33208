import type { JsonObject } from '../base/file/json-file.js'
import { architectureOf, type Family, type ModelHead } from './architecture.js'
import { ConfigReader } from './config-reader.js'
import { type FloatDtype, floatDtype } from './dtype.js'
import { type Experts, readExperts } from './experts.js'
import { type FamilyTraits, traits } from './family.js'
import { layersWithoutPositions, readLayerTypes, readWindows } from './layer-kinds.js'
import { parseNearRope, parseRope, type Rope } from './rope.js'

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
  /** Layers norm what attention and feed-forward part take, what they give, or both. */
  readonly norms: 'before' | 'after' | 'both'
  /** Norms multiply by 1 + weight. */
  readonly unitNorms: boolean
  /** q, k and v are one matrix of the file, gate and up another. */
  readonly fused: boolean
  /** Of the gate. */
  readonly activation: 'silu' | 'gelu'
  readonly embedScale: number
  /** Of q · k. */
  readonly attentionScale: number
  /** Scores and logits become cap · tanh(x / cap). */
  readonly attentionCap?: number
  readonly logitCap?: number
  /** Of each layer: the tokens that it sees, its own included; 0: all before it. Absent: all layers see all. */
  readonly windows?: readonly number[]
  /** Layers without positions. Absent: all rotate. */
  readonly unturned?: readonly number[]
  /** Layers that rotate in another way, those that see a window. Absent: all rotate alike. */
  readonly near?: { readonly rope: Rope; readonly layers: readonly number[] }
  /** Absent: every token goes through the whole of every layer. */
  readonly experts?: Experts
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

/** Normalizes a Hugging Face config.json. `path` is what errors name. */
export function parseModelConfig(json: JsonObject, path = 'config.json'): ModelConfig {
  const config = new ConfigReader(json, path)
  const { architecture, family, head } = readArchitecture(config, path)
  const hiddenSize = config.integer('hidden_size', { min: 1 })
  const heads = config.integer('num_attention_heads', { min: 1 })
  const usual = traits[family]
  const kvDefault = (!Object.hasOwn(json, 'num_key_value_heads') && usual.kvHeads) || heads
  const kvHeads = config.integer('num_key_value_heads', { min: 1, fallback: kvDefault })
  if (heads % kvHeads !== 0) throw config.wrong('num_key_value_heads', kvHeads, `a divisor of ${heads}`)
  const headDim = readHeadDim(config, usual.headDim, hiddenSize, heads)
  const layers = config.integer('num_hidden_layers', { min: 1, max: maxLayers })
  const maxPositions = config.integer('max_position_embeddings', {
    min: 1,
    fallback: usual.positions,
  })
  const bias = usual.attentionBias && config.flag('attention_bias', false)
  refuseUnsupported(config, usual)
  const unturned = family === 'smollm3' ? layersWithoutPositions(config, layers) : undefined
  const types = readLayerTypes(config, { family, layers })
  const windows = readWindows(config, json, { family, layers, types, unturned })
  const place = { family, maxPositions, headDim }
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
    rope: parseRope(config, place, usual.theta),
    tieEmbeddings: config.flag('tie_word_embeddings', usual.tied ?? false),
    qkvBias: family === 'qwen2' || bias,
    outBias: bias,
    mlpBias: usual.mlpBias === true && config.flag('mlp_bias', false),
    qkNorm: usual.qkNorm ?? 'none',
    norms: usual.norms ?? 'before',
    fused: usual.fused ?? false,
    ...scales(config, json, usual, { hiddenSize, headDim }),
    // A window that holds the longest sequence is none.
    windows: windows?.some((window) => window > 0 && window < maxPositions) ? windows : undefined,
    unturned,
    near: family === 'gemma3_text' ? nearLayers(config, types) : undefined,
    experts: usual.experts && readExperts(config, layers),
    labels: readLabels(config),
    initRange: config.positive('initializer_range', 0.02),
    dtype: floatDtype(config.text('dtype', config.text('torch_dtype', ''))),
    bosTokenId: config.tokenIds('bos_token_id')[0],
    eosTokenIds: config.tokenIds('eos_token_id'),
    padTokenId: config.tokenIds('pad_token_id')[0],
  }
}

type Scales = 'unitNorms' | 'activation' | 'embedScale' | 'attentionScale' | 'attentionCap' | 'logitCap'

function scales(
  config: ConfigReader,
  json: JsonObject,
  { gemma }: FamilyTraits,
  { hiddenSize, headDim }: { hiddenSize: number; headDim: number },
): Pick<ModelConfig, Scales> {
  if (!gemma) return { unitNorms: false, activation: 'silu', embedScale: 1, attentionScale: headDim ** -0.5 }
  const cap = (key: string, usual?: number) =>
    config.has(key) ? config.positive(key) : json[key] === null ? undefined : usual
  const act = config.text('hidden_activation', 'gelu_pytorch_tanh')
  if (act !== 'gelu_pytorch_tanh')
    throw config.unsupported(`hidden_activation '${act}'`, 'supported: gelu_pytorch_tanh')
  return {
    unitNorms: true,
    activation: 'gelu',
    embedScale: hiddenSize ** 0.5,
    attentionScale: config.positive('query_pre_attn_scalar', 256) ** -0.5,
    // Transformers gives the attention of Gemma 3 no cap, whatever the file says.
    attentionCap: gemma.attentionCap && cap('attn_logit_softcapping', gemma.attentionCap),
    logitCap: cap('final_logit_softcapping', gemma.logitCap),
  }
}

/** Whether a layer sees a window only. Of Gemma 3, whose window may hold everything, the rotation tells. */
export function isNear({ near, windows }: Pick<ModelConfig, 'near' | 'windows'>, layer: number): boolean {
  return near?.layers.includes(layer) ?? (windows?.[layer] ?? 0) > 0
}

function nearLayers(config: ConfigReader, types: readonly string[]): ModelConfig['near'] {
  const layers = types.flatMap((type, layer) => (type === 'sliding_attention' ? [layer] : []))
  return layers.length > 0 ? { rope: parseNearRope(config), layers } : undefined
}

function readArchitecture(config: ConfigReader, path: string) {
  const [architecture] = config.texts('architectures')
  if (architecture === undefined) throw config.wrong('architectures', undefined, 'a list such as ["LlamaForCausalLM"]')
  return {
    architecture,
    ...architectureOf(architecture, config.has('model_type') ? config.text('model_type', '') : undefined, path),
  }
}

function readHeadDim(config: ConfigReader, usual: number | undefined, hiddenSize: number, heads: number): number {
  const fallback = usual ?? Math.floor(hiddenSize / heads)
  if (!config.has('head_dim') && usual === undefined && hiddenSize % heads !== 0) {
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

function refuseUnsupported(config: ConfigReader, { gemma }: FamilyTraits): void {
  const act = config.text('hidden_act', 'silu')
  if (!gemma && act !== 'silu' && act !== 'swish') throw config.unsupported(`hidden_act '${act}'`, 'supported: silu')
  if (config.flag('use_bidirectional_attention', false)) {
    throw config.unsupported('attention in both directions', 'only models that write from left to right are supported')
  }
  if (config.has('quantization_config')) {
    throw config.unsupported('the weights are quantized', 'use the f32, f16 or bf16 version of this model')
  }
}
