import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { call, request } from '../../../test/support/native-sampler.js'
import { spreadWeights } from '../../../test/support/spread-weights.js'
import { tempDir } from '../../../test/support/temp-dir.js'
import { testData } from '../../../test/support/test-data.js'
import type { JsonObject } from '../../base/file/json-file.js'
import { NativeEngine } from '../../engine/native/engine.js'
import type { Family } from '../architecture.js'
import { createModel } from '../create.js'
import { readModelConfig } from '../dir.js'
import { Gaussian } from '../gaussian.js'
import { Tokenizer } from '../tokenizer.js'
import { exportGguf } from './export.js'
import type { FileType } from './file-type.js'

/** A folder where `npm install node-llama-cpp` was run: llama.cpp with its binaries. */
const llama = process.env.TRINITY_LLAMA_CPP ?? ''
const absent = !existsSync(join(llama, 'node_modules', 'node-llama-cpp'))
const note = absent ? ' (skipped: TRINITY_LLAMA_CPP is not a folder with node-llama-cpp)' : ''

const script = `
import { getLlama, LlamaLogLevel } from 'node-llama-cpp'
const [, , modelPath, asked] = process.argv
const { prompts, texts, count } = JSON.parse(asked)
const llama = await getLlama({ gpu: false, build: 'never', logLevel: LlamaLogLevel.error, maxThreads: 1 })
const model = await llama.loadModel({ modelPath })
const context = await model.createContext({
  contextSize: 512,
  threads: 1,
  experimentalKvCacheKeyType: 'F32',
  experimentalKvCacheValueType: 'F32',
})
const sequence = context.getSequence()
const greedy = []
for (const prompt of prompts) {
  await sequence.clearHistory()
  const tokens = []
  for await (const token of sequence.evaluate(prompt, { temperature: 0 })) {
    tokens.push(token)
    if (tokens.length === count) break
  }
  greedy.push(tokens)
}
console.log(JSON.stringify({ greedy, tokenized: texts.map((text) => [...model.tokenize(text, true)]) }))
process.exit(0)
`

const texts = ['Hello world, 1234 + 56!', '  two  spaces\n\nlines', 'naïve Ω 你好 🎉', "it's done <|im_end|>\n"]
const COUNT = 48

const window = 16
const yarn: JsonObject = { rope_type: 'yarn', factor: 4, original_max_position_embeddings: 256, attention_factor: 1.3 }
const factors = (from: number) => Array.from({ length: 6 }, (_, i) => from + i / 4)
const longrope = { rope_type: 'longrope', short_factor: factors(1), long_factor: factors(2), attention_factor: 1.1 }
const phi3: JsonObject = { partial_rotary_factor: 0.75, rope_scaling: longrope }

/** `keys`: of config.json, beside those that a new model has. */
const models: { arch: Family; note: string; tie?: boolean; keys?: JsonObject }[] = [
  { arch: 'llama', note: 'with yarn', keys: { rope_scaling: yarn } },
  { arch: 'mistral', note: 'with a window', keys: { sliding_window: 256 } },
  { arch: 'qwen2', note: 'as it is' },
  { arch: 'qwen3', note: 'as it is' },
  { arch: 'qwen3_moe', note: 'as it is' },
  { arch: 'smollm3', note: 'tied', tie: true },
  { arch: 'olmo2', note: 'with yarn', keys: { rope_scaling: yarn } },
  { arch: 'phi3', note: 'short factors', keys: { ...phi3, original_max_position_embeddings: 512 } },
  { arch: 'phi3', note: 'long factors', keys: { ...phi3, original_max_position_embeddings: 256 } },
  {
    arch: 'gemma2',
    note: 'with windows',
    tie: true,
    keys: {
      sliding_window: window,
      layer_types: ['sliding_attention', 'full_attention', 'sliding_attention', 'full_attention'],
    },
  },
  {
    arch: 'gemma3_text',
    note: 'with windows and two rotations',
    tie: true,
    keys: {
      sliding_window: window,
      layer_types: ['sliding_attention', 'sliding_attention', 'sliding_attention', 'full_attention'],
      rope_theta: 1e6,
      rope_local_base_freq: 1000,
      rope_scaling: { rope_type: 'linear', factor: 8 },
    },
  },
]

async function inLlama(dir: string, model: string, prompts: number[][], count = COUNT) {
  const file = join(llama, 'trinity-ask.mjs')
  await writeFile(file, script)
  const asked = JSON.stringify({ prompts, texts, count })
  const { stdout } = await promisify(execFile)(process.execPath, [file, join(dir, model), asked], { cwd: llama })
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as { greedy: number[][]; tokenized: number[][] }
}

/** Greedy tokens; with `margin` only those before the first one that is not likelier than the next by so much, or ends the answer. */
async function ours(path: string, prompts: number[][], maxTokens = COUNT, margin = 0): Promise<number[][]> {
  const { config } = await readModelConfig(path)
  const maxModelLen = Math.min(512, config.maxPositions)
  const model = await new NativeEngine().openSample({ path, seed: 1, maxModelLen }, call())
  const samples = await Promise.all(
    prompts.map((prompt) => model.sample(request(prompt, { temperature: 0, maxTokens }, { topLogprobs: 2 }), call())),
  )
  await model.close()
  return samples.map(([{ tokens, topLogprobs = [] }]) => {
    const close = topLogprobs.findIndex(
      ({ logprobs: [best, next] }, i) => margin > 0 && (best - next < margin || config.eosTokenIds.includes(tokens[i])),
    )
    return [...tokens.slice(0, close < 0 ? undefined : close)]
  })
}

/** Of many lengths, so that windows and positions count. */
function randomPrompts(vocabulary: number): number[][] {
  const random = new Gaussian(3, 'prompts')
  const token = () => Math.floor(Math.abs(random.next()) * 1e6) % vocabulary
  return Array.from({ length: 16 }, (_, i) => Array.from({ length: 3 + 5 * i }, token))
}

describe.skipIf(absent)(`exported models in llama.cpp${note}`, { timeout: 240_000 }, () => {
  const real = testData('models/minimind2_small_hf')
  it.skipIf(real.absent)(`f16 and f32 answer as we do, the others are read${real.note}`, async () => {
    const dir = await tempDir()
    const tokenizer = await Tokenizer.load(real.path)
    const prompt = [...tokenizer.encode('<|im_start|>user\nWhat is the sky?<|im_end|>\n<|im_start|>assistant\n')]
    const expected = await ours(real.path, [prompt])
    for (const type of ['f16', 'f32', 'bf16', 'q8_0', 'q4_0', 'q4_k_m'] as FileType[]) {
      await exportGguf(real.path, join(dir, `${type}.gguf`), { type })
      const { greedy, tokenized } = await inLlama(dir, `${type}.gguf`, [prompt])
      expect(tokenized).toEqual(texts.map((text) => [...tokenizer.encode(text)]))
      if (type === 'f16' || type === 'f32') expect(greedy).toEqual(expected)
      else expect(greedy[0]).toHaveLength(COUNT)
    }
  })

  it.each(models)('$arch, $note', async ({ arch, keys, note: _, ...options }) => {
    const dir = await tempDir()
    const path = join(dir, 'm')
    const shape = { layers: 4, hidden: 64, heads: 4, kvHeads: 2, dtype: 'F16' as const }
    await createModel({ out: path, arch, ...shape, ...options })
    const config = JSON.parse(await readFile(join(path, 'config.json'), 'utf8'))
    await writeFile(join(path, 'config.json'), JSON.stringify({ ...config, ...keys }))
    await spreadWeights(path)
    await exportGguf(path, join(dir, 'm.gguf'), { type: 'f16' })
    const prompts = randomPrompts(256)
    // llama.cpp multiplies with f16 numbers: what is nearly as likely may change places.
    const expected = await ours(path, prompts, 4, 0.05)
    expect(new Set(expected.flat()).size).toBeGreaterThan(16)
    const { greedy } = await inLlama(dir, 'm.gguf', prompts, 4)
    expect(greedy.map((tokens, i) => tokens.slice(0, expected[i].length))).toEqual(expected)
    expect(await ours(join(dir, 'm.gguf'), prompts, 4, 0.05)).toEqual(expected)
  })

  it('the tokenizer of Qwen', async () => {
    const dir = await tempDir()
    const words = join('node_modules', '@lenml', 'tokenizer-qwen2_5', 'models')
    const shape = { layers: 2, hidden: 64, heads: 4, kvHeads: 2 }
    await createModel({ out: join(dir, 'm'), arch: 'qwen3', ...shape, tokenizer: { kind: 'from', dir: words } })
    await exportGguf(join(dir, 'm'), join(dir, 'm.gguf'), { type: 'f32' })
    const tokenizer = await Tokenizer.load(join(dir, 'm'))
    const again = await Tokenizer.load(join(dir, 'm.gguf'))
    for (const text of texts) expect(again.encode(text)).toEqual(tokenizer.encode(text))
    const prompt = [...tokenizer.encode('Count: one, two,')]
    const { greedy, tokenized } = await inLlama(dir, 'm.gguf', [prompt])
    expect(tokenized).toEqual(texts.map((text) => [...tokenizer.encode(text)]))
    expect(greedy).toEqual(await ours(join(dir, 'm'), [prompt]))
  })

  const stories = testData('models/stories260K/hf')
  it.skipIf(stories.absent)(`SentencePiece${stories.note}`, async () => {
    const dir = await tempDir()
    await exportGguf(stories.path, join(dir, 'm.gguf'), { type: 'f32' })
    const tokenizer = await Tokenizer.load(stories.path)
    const prompt = [...tokenizer.encode('Once upon a time', { addSpecial: true })]
    const { greedy } = await inLlama(dir, 'm.gguf', [prompt])
    expect(greedy).toEqual(await ours(stories.path, [prompt]))
  })
})
