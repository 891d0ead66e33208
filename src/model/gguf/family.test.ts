import { expect, it } from 'vitest'
import type { JsonObject } from '../../base/file/json-file.js'
import { architectureName, type Family, families } from '../architecture.js'
import { parseModelConfig } from '../config.js'
import { contextOf, familyNamed, whyNot } from './family.js'

function config(family: Family, more: JsonObject = {}) {
  return parseModelConfig({
    architectures: [architectureName(family, 'lm')],
    model_type: family,
    hidden_size: 64,
    intermediate_size: 96,
    num_hidden_layers: 4,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    head_dim: 16,
    vocab_size: 512,
    max_position_embeddings: 512,
    query_pre_attn_scalar: 16,
    num_experts: 4,
    num_experts_per_tok: 2,
    norm_topk_prob: true,
    sliding_window: null,
    ...(family.startsWith('gemma') && { sliding_window: 32 }),
    ...more,
  })
}
const yarn = { rope_type: 'yarn', factor: 4, original_max_position_embeddings: 128 }

it('every family has a name in llama.cpp, and Mistral that of Llama', () => {
  for (const family of families) expect(whyNot(config(family)), family).toBeUndefined()
  expect(familyNamed.get('llama')).toBe('llama')
  expect([...familyNamed.values()].sort()).toEqual(families.filter((family) => family !== 'mistral'))
})

it.each<[Family, JsonObject, string]>([
  ['qwen3', { architectures: ['Qwen3ForSequenceClassification'] }, 'only language models'],
  ['qwen3', { attention_bias: true }, 'no biases'],
  ['qwen3', { rope_scaling: { ...yarn, rope_type: 'llama3', low_freq_factor: 1, high_freq_factor: 4 } }, 'Llama only'],
  ['llama', { rope_scaling: { ...yarn, truncate: false } }, 'rounds the ends'],
  ['gemma3_text', { rope_scaling: yarn }, 'stretch both'],
  ['phi3', { head_dim: 32 }, 'as wide as the model'],
  ['olmo2', { tie_word_embeddings: true }, 'a head of its own'],
  ['gemma2', { tie_word_embeddings: false }, 'takes the embedding'],
  ['gemma2', { final_logit_softcapping: null }, 'always caps'],
  ['gemma3_text', { query_pre_attn_scalar: 9 }, 'takes 16 for query_pre_attn_scalar'],
  ['smollm3', { no_rope_layer_interval: 3 }, 'every 4th layer'],
  ['qwen3_moe', { mlp_only_layers: [1] }, 'experts in every layer'],
  ['qwen3_moe', { norm_topk_prob: false }, 'add up to 1'],
])('%s %j is refused with the reason', (family, more, reason) => {
  expect(whyNot(config(family, more))).toContain(reason)
})

it('where llama.cpp has no windows, the context is what a window holds', () => {
  expect(contextOf(config('mistral', { sliding_window: 100 }))).toBe(100)
  expect(contextOf(config('mistral'))).toBe(512)
  expect(contextOf(config('gemma2'))).toBe(512)
})
