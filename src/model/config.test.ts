import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../base/file/json-file.js'
import { parseModelConfig } from './config.js'
import { modelConfigJson } from './config-json.js'
import { modelLayout, parameterCount } from './layout.js'
import { inverseFrequencies } from './rope.js'

const llama: JsonObject = {
  architectures: ['LlamaForCausalLM'],
  hidden_size: 64,
  intermediate_size: 172,
  num_hidden_layers: 2,
  num_attention_heads: 8,
  num_key_value_heads: 4,
  vocab_size: 512,
  max_position_embeddings: 512,
  rms_norm_eps: 1e-5,
  rope_theta: 10000.0,
  hidden_act: 'silu',
  tie_word_embeddings: true,
  eos_token_id: [2, 3],
  torch_dtype: 'float32',
}
const mistral = { ...llama, architectures: ['MistralForCausalLM'], sliding_window: null }
const qwen2 = { ...llama, architectures: ['Qwen2ForCausalLM'] }
const smollm3 = { ...llama, architectures: ['SmolLM3ForCausalLM'] }
const olmo2 = { ...llama, architectures: ['Olmo2ForCausalLM'] }
const qwen3 = { ...llama, architectures: ['Qwen3ForCausalLM'], head_dim: 128 }

describe('parseModelConfig', () => {
  it('normalizes the families', () => {
    expect(parseModelConfig(llama)).toMatchObject({
      family: 'llama',
      head: 'lm',
      headDim: 8,
      kvHeads: 4,
      qkvBias: false,
      qkNorm: 'none',
      norms: 'before',
      eosTokenIds: [2, 3],
      rope: { theta: 10000, scaling: { type: 'default' } },
      dtype: 'F32',
    })
    expect(parseModelConfig(qwen2)).toMatchObject({ qkvBias: true, outBias: false, qkNorm: 'none' })
    expect(parseModelConfig(qwen3)).toMatchObject({ qkvBias: false, qkNorm: 'head', headDim: 128 })
    expect(parseModelConfig({ ...llama, attention_bias: true, mlp_bias: true })).toMatchObject({
      qkvBias: true,
      outBias: true,
      mlpBias: true,
    })
    const classifier = { ...llama, architectures: ['Qwen2ForSequenceClassification'], id2label: { 0: 'reward' } }
    expect(parseModelConfig(classifier)).toMatchObject({ family: 'qwen2', head: 'sequence', labels: 1 })
    expect(parseModelConfig({ ...llama, num_key_value_heads: null, head_dim: null })).toMatchObject({ kvHeads: 8 })
  })

  it('reads windows as Transformers does', () => {
    const windows = (change: JsonObject) => parseModelConfig({ ...qwen2, ...change }).windows
    expect(windows({ ...mistral, sliding_window: 100 })).toEqual([100, 100])
    expect(windows({ ...mistral, sliding_window: 512 })).toBeUndefined()
    expect(windows({ ...mistral, sliding_window: undefined, max_position_embeddings: 8192 })).toEqual([4096, 4096])
    const used = { use_sliding_window: true, sliding_window: 100 }
    expect(windows({ ...used, max_window_layers: 1 })).toEqual([0, 100])
    expect(windows({ ...used, max_window_layers: 2 })).toBeUndefined()
    expect(windows({ ...used, max_window_layers: 1, use_sliding_window: false })).toBeUndefined()
    expect(windows({ ...used, max_window_layers: 1, sliding_window: null })).toBeUndefined()
    expect(windows({ ...used, layer_types: ['sliding_attention', 'full_attention'] })).toEqual([100, 0])
    expect(windows({ ...smollm3, ...used, no_rope_layers: [1, 0] })).toEqual([0, 100])
  })

  it('knows layers without positions and norms in other places', () => {
    expect(parseModelConfig({ ...smollm3, num_hidden_layers: 9 }).unturned).toEqual([3, 7])
    expect(parseModelConfig({ ...smollm3, no_rope_layers: [0, 1] })).toMatchObject({ unturned: [0] })
    const given: Record<string, unknown> = smollm3
    const { num_key_value_heads: _, rope_theta: __, tie_word_embeddings: ___, ...little } = given
    expect(parseModelConfig(little)).toMatchObject({ kvHeads: 4, rope: { theta: 2e6 }, tieEmbeddings: true })
    expect(parseModelConfig(olmo2)).toMatchObject({ qkNorm: 'whole', norms: 'after' })
    const names = modelLayout(parseModelConfig(olmo2)).map(({ name }) => name)
    expect(names).toContain('model.layers.1.post_feedforward_layernorm.weight')
    expect(names).not.toContain('model.layers.1.input_layernorm.weight')
  })

  it('reads both spellings of rope', () => {
    const scaling = {
      factor: 8,
      low_freq_factor: 1,
      high_freq_factor: 4,
      original_max_position_embeddings: 8192,
      rope_type: 'llama3',
    }
    const old = parseModelConfig({ ...llama, rope_theta: 500000, rope_scaling: scaling }).rope
    const { rope_theta: _, ...rest } = llama
    expect(parseModelConfig({ ...rest, rope_parameters: { ...scaling, rope_theta: 500000 } }).rope).toEqual(old)
    expect(old.scaling).toMatchObject({ type: 'llama3', originalMaxPositions: 8192 })
    const linear = parseModelConfig({ ...llama, rope_scaling: { type: 'linear', factor: 2 } }).rope
    expect(linear.scaling).toEqual({ type: 'linear', factor: 2 })
  })

  it('rope_scaling counts more than rope_parameters, and a length beside them more than one within', () => {
    const both = {
      rope_scaling: { type: 'linear', factor: 2 },
      rope_parameters: { rope_theta: 7, rope_type: 'default' },
    }
    expect(parseModelConfig({ ...llama, ...both }).rope).toEqual({
      theta: 10000,
      scaling: { type: 'linear', factor: 2 },
    })
    expect(parseModelConfig({ ...llama, ...both, rope_scaling: {} }).rope.theta).toBe(7)
    const within = { rope_type: 'llama3', factor: 8, low_freq_factor: 1, high_freq_factor: 4 }
    const rope_scaling = { ...within, original_max_position_embeddings: 64 }
    expect(
      parseModelConfig({ ...llama, rope_scaling, original_max_position_embeddings: 32 }).rope.scaling,
    ).toMatchObject({
      originalMaxPositions: 32,
    })
  })

  it('refuses what it cannot compute, with the reason', () => {
    const refusal = (change: JsonObject) => {
      try {
        parseModelConfig({ ...llama, ...change }, 'config.json')
      } catch (error) {
        return `${(error as Error).message} | ${(error as { hint?: string }).hint}`
      }
      return 'accepted'
    }
    expect(refusal({ architectures: ['GPT2LMHeadModel'] })).toContain('LlamaForCausalLM')
    expect(refusal({ architectures: ['GraniteForCausalLM'] })).not.toContain('did you mean')
    for (const type of ['granite', 'helium', 'diffllama', 'ernie4_5', 'mistral']) {
      expect(refusal({ model_type: type })).toContain(`'LlamaForCausalLM' is not of model_type '${type}'`)
    }
    const mistral = { architectures: ['MistralForCausalLM'], model_type: 'mistral' }
    expect(refusal({ ...mistral, sliding_window: null })).toBe('accepted')
    expect(refusal({ ...mistral, sliding_window: 512 })).toBe('accepted')
    expect(refusal({ ...mistral, layer_types: ['full_attention', 'full_attention'] })).toContain('layer_types')
    expect(refusal({ architectures: [] })).toContain("'architectures' is missing")
    expect(refusal({ hidden_size: undefined })).toContain("'hidden_size' is missing")
    expect(refusal({ hidden_size: '64' })).toContain('expected an integer')
    expect(refusal({ hidden_size: 63 })).toContain('a multiple of num_attention_heads')
    expect(refusal({ num_key_value_heads: 3 })).toContain('a divisor of 8')
    expect(refusal({ head_dim: 7 })).toContain('an even number')
    expect(refusal({ num_hidden_layers: 1e9 })).toContain('from 1 to 4096')
    expect(refusal({ rms_norm_eps: 0 })).toContain('a number above 0')
    expect(refusal({ rope_scaling: { rope_type: 'longrope' } })).toContain('supported: default, linear, dynamic')
    expect(refusal({ rope_scaling: { rope_type: 'linear' } })).toContain("'factor' is missing")
    expect(refusal({ partial_rotary_factor: 0.5 })).toContain('partial_rotary_factor')
    expect(refusal({ hidden_act: 'gelu' })).toContain('supported: silu')
    expect(refusal({ quantization_config: { bits: 4 } })).toContain('quantized')
    expect(refusal({ use_sliding_window: true, sliding_window: 4096, max_window_layers: 0 })).toContain(
      'sliding-window',
    )
    const types = ['full_attention', 'sliding_attention']
    expect(refusal({ ...qwen2, layer_types: types })).toContain('a sliding layer without a window')
    expect(refusal({ ...qwen2, layer_types: ['full_attention'] })).toContain('a list of 2 types')
    expect(refusal({ ...qwen2, layer_types: ['linear_attention', 'full_attention'] })).toContain("'linear_attention'")
    expect(refusal({ ...smollm3, no_rope_layers: [1] })).toContain('a list of 2 numbers')
    expect(refusal({ rope_parameters: { full_attention: { rope_type: 'default' } } })).toContain("'full_attention'")
    expect(refusal({ layer_types: types })).toContain("'sliding_attention' in this family")
    expect(refusal({ eos_token_id: 'end' })).toContain('a token id')
  })

  it('survives any value of any key: a configuration or a typed error', () => {
    const keys = [
      ...Object.keys(llama),
      'rope_scaling',
      'rope_parameters',
      'head_dim',
      'id2label',
      'num_labels',
      'dtype',
    ]
    const change = fc.record({ key: fc.constantFrom(...keys), value: fc.jsonValue() })
    fc.assert(
      fc.property(
        fc.constantFrom(llama, mistral, qwen2, qwen3),
        fc.array(change, { maxLength: 3 }),
        (base, changes) => {
          const json = { ...base, ...Object.fromEntries(changes.map(({ key, value }) => [key, value])) }
          try {
            const config = parseModelConfig(json)
            expect(Number.isFinite(parameterCount(config))).toBe(true)
            expect(parseModelConfig(modelConfigJson(config))).toEqual({
              ...config,
              dtype: config.dtype ?? 'F32',
              labels: expect.any(Number),
            })
          } catch (error) {
            expect(error).toMatchObject({ name: 'TrinityError' })
          }
        },
      ),
      { numRuns: 1000 },
    )
  })
})

describe('modelLayout', () => {
  it('counts the parameters of published models', () => {
    const published = (change: JsonObject) => parameterCount(parseModelConfig({ ...llama, ...change }))
    const qwen25 = {
      architectures: ['Qwen2ForCausalLM'],
      hidden_size: 1536,
      intermediate_size: 8960,
      num_hidden_layers: 28,
      num_attention_heads: 12,
      num_key_value_heads: 2,
      vocab_size: 151936,
    }
    expect(published(qwen25)).toBe(1_543_714_304) // Qwen2.5-1.5B
    const qwen3 = {
      architectures: ['Qwen3ForCausalLM'],
      hidden_size: 1024,
      intermediate_size: 3072,
      num_hidden_layers: 28,
      num_attention_heads: 16,
      num_key_value_heads: 8,
      head_dim: 128,
      vocab_size: 151936,
    }
    expect(published(qwen3)).toBe(596_049_920) // Qwen3-0.6B
  })

  it('names the tensors of the other heads', () => {
    const config = parseModelConfig({ ...llama, num_labels: 1 })
    const names = (head: 'lm' | 'sequence' | 'token' | 'none') => modelLayout(config, head).map(({ name }) => name)
    expect(names('none').at(-1)).toBe('model.norm.weight')
    expect(names('lm')).toEqual(names('none'))
    expect(names('sequence').at(-1)).toBe('score.weight')
    expect(names('token').slice(-2)).toEqual(['score.weight', 'score.bias'])
  })
})

describe('inverseFrequencies', () => {
  it('leaves short waves, stretches long ones by the factor and blends between', () => {
    const plain = inverseFrequencies({ theta: 500000, scaling: { type: 'default' } }, 128)
    const scaling = {
      type: 'llama3',
      factor: 8,
      lowFreqFactor: 1,
      highFreqFactor: 4,
      originalMaxPositions: 8192,
    } as const
    const scaled = inverseFrequencies({ theta: 500000, scaling }, 128)
    const ratio = Array.from(plain, (f, i) => f / scaled[i])
    expect(ratio[0]).toBe(1)
    expect(ratio.at(-1)).toBeCloseTo(8, 5)
    expect(ratio.some((r) => r > 1.5 && r < 7.5)).toBe(true)
    expect(ratio.every((r, i) => i === 0 || r >= ratio[i - 1] - 1e-6)).toBe(true)
    const linear = inverseFrequencies({ theta: 500000, scaling: { type: 'linear', factor: 4 } }, 128)
    expect(linear[5]).toBe(Math.fround(plain[5] / 4))
  })
})
