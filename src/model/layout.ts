import type { ModelHead } from './architecture.js'
import type { ModelConfig } from './config.js'
import type { Experts } from './experts.js'

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
  | 'pre_feedforward_layernorm'
  | 'post_feedforward_layernorm'
  | 'qkv_proj'
  | 'gate_up_proj'
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
  pre_feedforward_layernorm: 'pre_feedforward_layernorm',
  post_feedforward_layernorm: 'post_feedforward_layernorm',
  qkv_proj: 'self_attn.qkv_proj',
  gate_up_proj: 'mlp.gate_up_proj',
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

interface LinearModule {
  readonly part: LayerPart
  readonly out: number
  readonly in: number
  readonly bias: boolean
}

function attentionModules(config: ModelConfig): LinearModule[] {
  const { hiddenSize: hidden, qkvBias: bias, outBias } = config
  const q = config.heads * config.headDim
  const kv = config.kvHeads * config.headDim
  const inputs: LinearModule[] = config.fused
    ? [{ part: 'qkv_proj', out: q + 2 * kv, in: hidden, bias }]
    : [
        { part: 'q_proj', out: q, in: hidden, bias },
        { part: 'k_proj', out: kv, in: hidden, bias },
        { part: 'v_proj', out: kv, in: hidden, bias },
      ]
  return [...inputs, { part: 'o_proj', out: hidden, in: q, bias: outBias }]
}

function feedModules({
  hiddenSize: hidden,
  intermediateSize: inner,
  mlpBias: bias,
  fused,
}: ModelConfig): LinearModule[] {
  const inputs: LinearModule[] = fused
    ? [{ part: 'gate_up_proj', out: 2 * inner, in: hidden, bias }]
    : [
        { part: 'gate_proj', out: inner, in: hidden, bias },
        { part: 'up_proj', out: inner, in: hidden, bias },
      ]
  return [...inputs, { part: 'down_proj', out: hidden, in: inner, bias }]
}

/** Linear modules of one layer with [out, in]; the names that LoRA's `target_modules` uses. Experts are no such modules. */
export function linearModules(config: ModelConfig): LinearModule[] {
  return config.experts ? attentionModules(config) : [...attentionModules(config), ...feedModules(config)]
}

/** Router and experts of a layer, with the names of Hugging Face checkpoints. */
function expertTensors({ hiddenSize: hidden }: ModelConfig, { count, inner }: Experts, layer: number): TensorSpec[] {
  const linear = (name: string, out: number, width: number): TensorSpec => ({
    name: `model.layers.${layer}.mlp.${name}.weight`,
    shape: [out, width],
    kind: 'linear',
  })
  return [
    linear('gate', count, hidden),
    ...Array.from({ length: count }, (_, e) => [
      linear(`experts.${e}.gate_proj`, inner, hidden),
      linear(`experts.${e}.up_proj`, inner, hidden),
      linear(`experts.${e}.down_proj`, hidden, inner),
    ]).flat(),
  ]
}

/** Of what a part of a layer takes, and of what it gives. */
export interface NormsAround {
  readonly before?: LayerPart
  readonly after?: LayerPart
}

/** The norms of a layer: those of the attention, those of the feed-forward part. */
export function layerNorms({ norms }: ModelConfig): { attention: NormsAround; feed: NormsAround } {
  const after = { attention: 'post_attention_layernorm', feed: 'post_feedforward_layernorm' } as const
  if (norms === 'after') return { attention: { after: after.attention }, feed: { after: after.feed } }
  if (norms === 'before') {
    return { attention: { before: 'input_layernorm' }, feed: { before: 'post_attention_layernorm' } }
  }
  return {
    attention: { before: 'input_layernorm', after: after.attention },
    feed: { before: 'pre_feedforward_layernorm', after: after.feed },
  }
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
  const { attention, feed } = layerNorms(config)
  for (let layer = 0; layer < config.layers; layer++) {
    const whole = (part?: LayerPart) => part && norm(layerTensor(layer, part), hidden)
    const linear = ({ part, out, in: width, bias }: LinearModule) => {
      specs.push({ name: layerTensor(layer, part), shape: [out, width], kind: 'linear' })
      if (bias) specs.push({ name: layerTensor(layer, part, 'bias'), shape: [out], kind: 'bias' })
    }
    whole(attention.before)
    attentionModules(config).forEach(linear)
    if (config.qkNorm !== 'none') {
      const together = config.qkNorm === 'whole'
      norm(layerTensor(layer, 'q_norm'), together ? config.heads * config.headDim : config.headDim)
      norm(layerTensor(layer, 'k_norm'), together ? config.kvHeads * config.headDim : config.headDim)
    }
    whole(attention.after)
    whole(feed.before)
    if (config.experts?.layers.includes(layer)) specs.push(...expertTensors(config, config.experts, layer))
    else feedModules(config).forEach(linear)
    whole(feed.after)
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
