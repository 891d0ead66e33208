import type { ModelConfig } from '../config.js'
import { type LayerPart, layerNorms, layerTensor } from '../layout.js'

const outside: Readonly<Record<string, string>> = {
  'token_embd.weight': 'model.embed_tokens.weight',
  'output_norm.weight': 'model.norm.weight',
  'output.weight': 'lm_head.weight',
}

/** Factors of a stretched rotation, not weights: the configuration says them. */
export const ROPE_FACTORS = 'rope_freqs.weight'
export const SHORT_FACTORS = 'rope_factors_short.weight'
export const LONG_FACTORS = 'rope_factors_long.weight'

/** Chooses the experts of a token. Small, and never quantized. */
export const ROUTER = 'ffn_gate_inp'

/** Parts of a layer by GGUF's names. */
function partsOf(config: ModelConfig): [string, LayerPart][] {
  const { attention, feed } = layerNorms(config)
  const parts: Record<string, LayerPart | undefined> = {
    attn_norm: attention.before,
    ...(config.fused ? { attn_qkv: 'qkv_proj' } : { attn_q: 'q_proj', attn_k: 'k_proj', attn_v: 'v_proj' }),
    attn_q_norm: 'q_norm',
    attn_k_norm: 'k_norm',
    attn_output: 'o_proj',
    post_attention_norm: attention.after,
    ffn_norm: feed.before,
    ...(config.fused ? { ffn_up: 'gate_up_proj' } : { ffn_gate: 'gate_proj', ffn_up: 'up_proj' }),
    ffn_down: 'down_proj',
    post_ffw_norm: feed.after,
  }
  return Object.entries(parts).flatMap(([own, part]): [string, LayerPart][] => (part ? [[own, part]] : []))
}

/** Router and experts of a layer; all experts are one tensor there. */
function expertTensors(layer: number, count: number): [string, string[]][] {
  const mlp = `model.layers.${layer}.mlp`
  return [
    [`blk.${layer}.${ROUTER}.weight`, [`${mlp}.gate.weight`]],
    ...['gate', 'up', 'down'].map((which): [string, string[]] => [
      `blk.${layer}.ffn_${which}_exps.weight`,
      Array.from({ length: count }, (_, e) => `${mlp}.experts.${e}.${which}_proj.weight`),
    ]),
  ]
}

/** Every tensor that a GGUF file of a model may have, with the Hugging Face tensors that it holds: one, or a layer's experts. */
export function ggufTensors(config: ModelConfig): ReadonlyMap<string, readonly string[]> {
  const tensors = new Map<string, string[]>(Object.entries(outside).map(([own, hf]) => [own, [hf]]))
  const parts = partsOf(config)
  for (let layer = 0; layer < config.layers; layer++) {
    for (const [own, part] of parts) {
      for (const what of ['weight', 'bias'] as const)
        tensors.set(`blk.${layer}.${own}.${what}`, [layerTensor(layer, part, what)])
    }
    if (!config.experts?.layers.includes(layer)) continue
    for (const [own, hf] of expertTensors(layer, config.experts.count)) tensors.set(own, hf)
  }
  return tensors
}
