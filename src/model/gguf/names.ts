import type { LayerPart } from '../layout.js'
import { layerTensor } from '../layout.js'

const outside: Readonly<Record<string, string>> = {
  'token_embd.weight': 'model.embed_tokens.weight',
  'output_norm.weight': 'model.norm.weight',
  'output.weight': 'lm_head.weight',
}

const inside: Readonly<Record<string, LayerPart>> = {
  attn_norm: 'input_layernorm',
  attn_q: 'q_proj',
  attn_k: 'k_proj',
  attn_v: 'v_proj',
  attn_output: 'o_proj',
  attn_q_norm: 'q_norm',
  attn_k_norm: 'k_norm',
  ffn_norm: 'post_attention_layernorm',
  ffn_gate: 'gate_proj',
  ffn_up: 'up_proj',
  ffn_down: 'down_proj',
}

/** Factors of a stretched rotation, not a weight: the configuration says them. */
export const ROPE_FACTORS = 'rope_freqs.weight'

/** The name that Hugging Face gives to a tensor of a GGUF file; undefined for one that these architectures do not have. */
export function hfName(name: string): string | undefined {
  if (Object.hasOwn(outside, name)) return outside[name]
  const [, layer, part, what] = /^blk\.(\d{1,4})\.([a-z_]+)\.(weight|bias)$/.exec(name) ?? []
  if (layer === undefined || !Object.hasOwn(inside, part)) return undefined
  return layerTensor(Number(layer), inside[part], what as 'weight' | 'bias')
}

/** GGUF's name of every tensor that a model of so many layers may have, by its Hugging Face name. */
export function ggufNames(layers: number): ReadonlyMap<string, string> {
  const names = new Map(Object.entries(outside).map(([own, hf]) => [hf, own]))
  for (let layer = 0; layer < layers; layer++) {
    for (const [own, part] of Object.entries(inside)) {
      for (const what of ['weight', 'bias'] as const)
        names.set(layerTensor(layer, part, what), `blk.${layer}.${own}.${what}`)
    }
  }
  return names
}
