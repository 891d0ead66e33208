import { describe, expect, it } from 'vitest'
import { withKeys } from '../../../test/config-kit.js'

const ROLLOUT = 'explorer.rollout_model.engine_type'
const shape = {
  architectures: ['LlamaForCausalLM'],
  model_type: 'llama',
  hidden_size: 64,
  intermediate_size: 128,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  vocab_size: 300,
  max_position_embeddings: 128,
}
/** The engine that `auto` takes on a machine with a GPU, for a model with this configuration. */
const chosen = (config: string | undefined, keys = {}) => {
  const facts = {
    gpus: 1,
    pytorch: true,
    readText: (path: string) => (path.endsWith('config.json') ? config : undefined),
  }
  return withKeys({ 'model.model_path': '/model', ...keys }, facts).explorer.rollout_model.engine_type
}

describe('a model that a GPU would only slow down', () => {
  it('runs on the processor although there is a GPU', () => {
    expect(chosen(JSON.stringify(shape))).toBe('native')
  })

  it('has less than a million parameters', () => {
    expect(chosen(JSON.stringify({ ...shape, hidden_size: 256, intermediate_size: 1024 }))).toBe('torch')
  })

  it('does not if the file names an engine', () => {
    expect(chosen(JSON.stringify(shape), { [ROLLOUT]: 'torch' })).toBe('torch')
  })

  it('is none that is not here or cannot be read', () => {
    for (const text of [undefined, '{', '{"model_type": "unknown"}', '[]', 'null']) expect(chosen(text)).toBe('torch')
  })
})
