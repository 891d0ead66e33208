import type { ModelHead } from './architecture.js'
import type { ModelConfig } from './config.js'

/** What a parameter is for: decides initial values, weight decay, LoRA targets. */
export type TensorKind = 'embedding' | 'linear' | 'bias' | 'norm' | 'head'

export interface TensorSpec {
  readonly name: string
  readonly shape: readonly number[]
  readonly kind: TensorKind
  /** May be absent from the file: a zero bias of a head. */
  readonly optional?: true
}

export type LayerPart =
  | 'input_layernorm'
  | 'q_proj'
  | 'k_proj'
  | 'v_proj'
  | 'o_proj'
  | 'q_norm'
  | 'k_norm'
  | 'post_attention_layernorm'
  | 'post_feedforward_layernorm'
  | 'gate_proj'
  | 'up_proj'
  | 'down_proj'

const modulePath: Record<LayerPart, string> = {
  input_layernorm: 'input_layernorm',
  q_proj: 'self_attn.q_proj',
  k_proj: 'self_attn.k_proj',
  v_proj: 'self_attn.v_proj',
  o_proj: 'self_attn.o_proj',
  q_norm: 'self_attn.q_norm',
  k_norm: 'self_attn.k_norm',
  post_attention_layernorm: 'post_attention_layernorm',
  post_feedforward_layernorm: 'post_feedforward_layernorm',
  gate_proj: 'mlp.gate_proj',
  up_proj: 'mlp.up_proj',
  down_proj: 'mlp.down_proj',
}

/** The full name of a module: `model.layers.0.self_attn.q_proj`. */
export function layerModule(layer: number, part: LayerPart): string {
  return `model.layers.${layer}.${modulePath[part]}`
}

export function layerTensor(layer: number, part: LayerPart, what: 'weight' | 'bias' = 'weight'): string {
  return `${layerModule(layer, part)}.${what}`
}

/** Linear modules of one layer with [out, in]; the names that LoRA's `target_modules` uses. */
export function linearModules(config: ModelConfig): { part: LayerPart; out: number; in: number; bias: boolean }[] {
  const { hiddenSize: hidden, intermediateSize: inner, qkvBias, outBias, mlpBias } = config
  const q = config.heads * config.headDim
  const kv = config.kvHeads * config.headDim
  return [
    { part: 'q_proj', out: q, in: hidden, bias: qkvBias },
    { part: 'k_proj', out: kv, in: hidden, bias: qkvBias },
    { part: 'v_proj', out: kv, in: hidden, bias: qkvBias },
    { part: 'o_proj', out: hidden, in: q, bias: outBias },
    { part: 'gate_proj', out: inner, in: hidden, bias: mlpBias },
    { part: 'up_proj', out: inner, in: hidden, bias: mlpBias },
    { part: 'down_proj', out: hidden, in: inner, bias: mlpBias },
  ]
}

/** The norms of a layer: that of the attention, that of the feed-forward part. */
export function layerNorms({ normAfter }: ModelConfig): [LayerPart, LayerPart] {
  return normAfter
    ? ['post_attention_layernorm', 'post_feedforward_layernorm']
    : ['input_layernorm', 'post_attention_layernorm']
}

/**
 * Every tensor that a model with this head holds, in the order of the computation, with the names of Hugging Face
 * checkpoints. `head` differs from the config's own where a model gets another one (a critic from a language model);
 * `none` lists the backbone only.
 */
export function modelLayout(config: ModelConfig, head: ModelHead | 'none' = config.head): TensorSpec[] {
  const { hiddenSize: hidden } = config
  const specs: TensorSpec[] = [embedding(config)]
  const norm = (name: string, size: number) => specs.push({ name, shape: [size], kind: 'norm' })
  const linears = linearModules(config)
  for (let layer = 0; layer < config.layers; layer++) {
    const linear = ({ part, out, in: width, bias }: (typeof linears)[number]) => {
      specs.push({ name: layerTensor(layer, part), shape: [out, width], kind: 'linear' })
      if (bias) specs.push({ name: layerTensor(layer, part, 'bias'), shape: [out], kind: 'bias' })
    }
    const [first, second] = layerNorms(config)
    norm(layerTensor(layer, first), hidden)
    linears.slice(0, 4).forEach(linear)
    if (config.qkNorm !== 'none') {
      const whole = config.qkNorm === 'whole'
      norm(layerTensor(layer, 'q_norm'), whole ? config.heads * config.headDim : config.headDim)
      norm(layerTensor(layer, 'k_norm'), whole ? config.kvHeads * config.headDim : config.headDim)
    }
    norm(layerTensor(layer, second), hidden)
    linears.slice(4).forEach(linear)
  }
  norm('model.norm.weight', hidden)
  specs.push(...headTensors(config, head))
  return specs
}

function embedding(config: ModelConfig): TensorSpec {
  return { name: 'model.embed_tokens.weight', shape: [config.vocabSize, config.hiddenSize], kind: 'embedding' }
}

function headTensors(config: ModelConfig, head: ModelHead | 'none'): TensorSpec[] {
  if (head === 'none') return []
  if (head === 'lm') {
    if (config.tieEmbeddings) return []
    return [{ name: 'lm_head.weight', shape: [config.vocabSize, config.hiddenSize], kind: 'head' }]
  }
  const weight: TensorSpec = { name: 'score.weight', shape: [config.labels, config.hiddenSize], kind: 'head' }
  if (head === 'sequence') return [weight]
  return [weight, { name: 'score.bias', shape: [config.labels], kind: 'bias', optional: true }]
}

export function parameterCount(config: ModelConfig, head: ModelHead | 'none' = config.head): number {
  return modelLayout(config, head).reduce((sum, { shape }) => sum + shape.reduce((size, n) => size * n, 1), 0)
}
