import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const fixtures = fileURLToPath(new URL('../../test/fixtures/', import.meta.url))

const names = {
  'Gemma 2': 'tiny-gemma2',
  'Gemma 3, text': 'tiny-gemma3',
  Llama: 'tiny-llama',
  'Mistral, with a window': 'tiny-mistral',
  'OLMo 2': 'tiny-olmo2',
  'Phi-3, with a window': 'tiny-phi3',
  'Qwen2 / Qwen2.5': 'tiny-qwen2',
  Qwen3: 'tiny-qwen3',
  'Qwen3-MoE': 'tiny-qwen3-moe',
  SmolLM3: 'tiny-smollm3',
}

/** Rotations on sequences beyond the original length of the model, by what changes in a fixture's config.json. */
const stretched = {
  'Phi-3, long factors': ['tiny-phi3', { original_max_position_embeddings: 40 }],
  'Llama, yarn': [
    'tiny-llama',
    { rope_parameters: { rope_type: 'yarn', rope_theta: 10000, factor: 4, original_max_position_embeddings: 32 } },
  ],
  'Llama, dynamic': ['tiny-llama', { rope_parameters: { rope_type: 'dynamic', rope_theta: 10000, factor: 2 } }],
}

/** One of each family, and of each rotation that is stretched: name, path, and the longest sequence. */
export function models(folder) {
  const plain = Object.entries(names).map(([name, own]) => ({ name, path: join(fixtures, own) }))
  const changed = Object.entries(stretched).map(([name, [own, keys]], i) => {
    const path = join(folder, String(i))
    cpSync(join(fixtures, own), path, { recursive: true })
    const config = JSON.parse(readFileSync(join(path, 'config.json'), 'utf8'))
    writeFileSync(join(path, 'config.json'), JSON.stringify({ ...config, ...keys }))
    return { name, path, long: true }
  })
  return [...plain, ...changed]
}
