import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../base/file/json-file.js'
import { parseModelConfig } from './config.js'
import { modelConfigJson } from './config-json.js'
import { modelLayout } from './layout.js'
import { inverseFrequencies } from './rope.js'

const sizes: JsonObject = {
  hidden_size: 64,
  intermediate_size: 96,
  num_hidden_layers: 4,
  num_attention_heads: 8,
  num_key_value_heads: 4,
  vocab_size: 512,
  max_position_embeddings: 512,
  torch_dtype: 'float32',
}
const phi3 = { ...sizes, architectures: ['Phi3ForCausalLM'], model_type: 'phi3' }
const gemma2 = { ...sizes, architectures: ['Gemma2ForCausalLM'], model_type: 'gemma2' }
const gemma3 = { ...sizes, architectures: ['Gemma3ForCausalLM'], model_type: 'gemma3_text' }

const names = (json: JsonObject) => modelLayout(parseModelConfig(json)).map(({ name }) => name)
const refusal = (json: JsonObject) => {
  try {
    parseModelConfig(json)
  } catch (error) {
    return `${(error as Error).message} | ${(error as { hint?: string }).hint}`
  }
  return 'accepted'
}

describe('Phi-3', () => {
  const scaling = { type: 'su', short_factor: [1, 2, 3], long_factor: [4, 5, 6] }
  const long = {
    ...phi3,
    partial_rotary_factor: 0.75,
    rope_scaling: scaling,
    original_max_position_embeddings: 128,
  }

  it('has joined matrices, and a window where one is said', () => {
    expect(names(phi3)).toContain('model.layers.3.self_attn.qkv_proj.weight')
    expect(names(phi3)).not.toContain('model.layers.3.self_attn.q_proj.weight')
    const shape = modelLayout(parseModelConfig(phi3)).find(({ name }) => name.endsWith('0.self_attn.qkv_proj.weight'))
    expect(shape?.shape).toEqual([64 + 2 * 32, 64])
    expect(parseModelConfig(phi3)).toMatchObject({ rmsEps: 1e-5, tieEmbeddings: false, windows: undefined })
    expect(parseModelConfig({ ...phi3, sliding_window: 100 }).windows).toEqual([100, 100, 100, 100])
  })

  it('chooses factors by the longest sequence, for the part of a head that is rotated', () => {
    const { rope, headDim } = parseModelConfig(long)
    // The share of 512 / 128 in the logarithm of 128.
    const attentionFactor = Math.sqrt(1 + Math.log(4) / Math.log(128))
    expect(rope).toMatchObject({ partial: 0.75, scaling: { type: 'longrope', attentionFactor } })
    const plain = inverseFrequencies({ ...rope, scaling: { type: 'default' } }, headDim)
    const ratio = (longest: number) => Array.from(inverseFrequencies(rope, headDim, longest), (f, i) => plain[i] / f)
    for (const [i, factor] of ratio(128).entries()) expect(factor).toBeCloseTo([1, 2, 3][i], 5)
    for (const [i, factor] of ratio(129).entries()) expect(factor).toBeCloseTo([4, 5, 6][i], 5)
  })

  it('refuses factors that do not fit and rotations that the family does not have', () => {
    expect(refusal({ ...long, rope_scaling: { ...scaling, short_factor: [1] } })).toContain('3 numbers above 0')
    expect(refusal({ ...phi3, rope_scaling: { rope_type: 'linear', factor: 2 } })).toContain("'linear' in this family")
    expect(refusal({ ...phi3, partial_rotary_factor: 0.4 })).toContain('an even part of 8 dimensions')
  })
})

describe('Gemma', () => {
  it('reads what the second one has of its own', () => {
    expect(parseModelConfig({ ...gemma2, sliding_window: 100 })).toMatchObject({
      headDim: 256,
      tieEmbeddings: true,
      norms: 'both',
      unitNorms: true,
      activation: 'gelu',
      embedScale: 8,
      attentionScale: 1 / 16,
      attentionCap: 50,
      logitCap: 30,
      windows: [100, 0, 100, 0],
    })
    expect(parseModelConfig({ ...gemma2, final_logit_softcapping: null }).logitCap).toBeUndefined()
    expect(
      names(gemma2)
        .slice(1, 12)
        .map((name) => name.split('.').at(-2)),
    ).toEqual([
      'input_layernorm',
      'q_proj',
      'k_proj',
      'v_proj',
      'o_proj',
      'post_attention_layernorm',
      'pre_feedforward_layernorm',
      'gate_proj',
      'up_proj',
      'down_proj',
      'post_feedforward_layernorm',
    ])
  })

  it('reads both rotations of the third one, in either spelling', () => {
    const older = { rope_theta: 5e5, rope_local_base_freq: 300, rope_scaling: { rope_type: 'linear', factor: 8 } }
    const newer = {
      rope_parameters: {
        full_attention: { rope_type: 'linear', factor: 8, rope_theta: 5e5 },
        sliding_attention: { rope_type: 'default', rope_theta: 300 },
      },
    }
    for (const spelling of [older, newer]) {
      expect(parseModelConfig({ ...gemma3, ...spelling, sliding_window_pattern: 3 })).toMatchObject({
        qkNorm: 'head',
        attentionCap: undefined,
        logitCap: undefined,
        rope: { theta: 5e5, scaling: { type: 'linear', factor: 8 } },
        near: { rope: { theta: 300, scaling: { type: 'default' } }, layers: [0, 1, 3] },
      })
    }
    expect(parseModelConfig(gemma3)).toMatchObject({ rope: { theta: 1e6 }, near: { rope: { theta: 1e4 } } })
  })

  it('refuses what would be computed differently', () => {
    expect(refusal({ ...gemma2, hidden_activation: 'gelu' })).toContain('supported: gelu_pytorch_tanh')
    expect(refusal({ ...gemma3, use_bidirectional_attention: true })).toContain('both directions')
    expect(refusal({ ...gemma2, sliding_window: null })).toContain('a sliding layer without a window')
    expect(refusal({ ...gemma3, rope_parameters: { rope_theta: 5 } })).toContain('full_attention')
    expect(refusal({ ...gemma3, architectures: ['Gemma3ForConditionalGeneration'], model_type: 'gemma3' })).toContain(
      "unknown model architecture 'Gemma3ForConditionalGeneration'",
    )
  })
})

it.each([phi3, { ...gemma2, sliding_window: 100 }, { ...gemma3, sliding_window: 100 }])(
  '$model_type is written as it was read',
  (json) => {
    const config = parseModelConfig(json)
    expect(parseModelConfig(modelConfigJson(config))).toEqual(config)
  },
)

describe('Qwen3-MoE', () => {
  const moe = { ...sizes, architectures: ['Qwen3MoeForCausalLM'], model_type: 'qwen3_moe', num_experts: 4 }
  const some = { ...moe, num_experts_per_tok: 2, moe_intermediate_size: 32, norm_topk_prob: true }

  it('has experts in the layers that are said', () => {
    const experts = { count: 4, active: 2, inner: 32, normalized: true }
    expect(parseModelConfig(some).experts).toEqual({ ...experts, layers: [0, 1, 2, 3] })
    expect(parseModelConfig({ ...some, decoder_sparse_step: 2, mlp_only_layers: [3] }).experts?.layers).toEqual([1])
    expect(parseModelConfig({ ...some, num_experts: 0 }).experts).toBeUndefined()
    const found = names({ ...some, mlp_only_layers: [1] })
    expect(found).toContain('model.layers.0.mlp.gate.weight')
    expect(found).toContain('model.layers.0.mlp.experts.3.down_proj.weight')
    expect(found).toContain('model.layers.1.mlp.down_proj.weight')
    expect(found).not.toContain('model.layers.1.mlp.gate.weight')
    const config = parseModelConfig({ ...some, mlp_only_layers: [1] })
    expect(parseModelConfig(modelConfigJson(config))).toEqual(config)
  })

  it('refuses more experts of a token than there are', () => {
    expect(refusal(moe)).toContain("'num_experts_per_tok' is 8; expected at most 4")
  })
})
