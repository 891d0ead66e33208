import type { JsonObject } from '../../src/base/file/json-file.js'
import { type ModelConfig, parseModelConfig } from '../../src/model/config.js'

/** Shapes of published models (Qwen2.5), as bench/torch/shapes.py has them. */
const SHAPES = {
  '0.5b': { hidden_size: 896, num_hidden_layers: 24, num_attention_heads: 14, num_key_value_heads: 2, intermediate_size: 4864 },
  '1.5b': { hidden_size: 1536, num_hidden_layers: 28, num_attention_heads: 12, num_key_value_heads: 2, intermediate_size: 8960 },
  '7b': { hidden_size: 3584, num_hidden_layers: 28, num_attention_heads: 28, num_key_value_heads: 4, intermediate_size: 18944 },
} // biome-ignore format: a table
export type ShapeName = keyof typeof SHAPES

export function configJson(name: ShapeName): JsonObject {
  const common = { architectures: ['Qwen2ForCausalLM'], vocab_size: 151936, max_position_embeddings: 32768 }
  return { ...SHAPES[name], ...common, tie_word_embeddings: name !== '7b' }
}

export function shapeOf(name: ShapeName): ModelConfig {
  return parseModelConfig(configJson(name))
}
