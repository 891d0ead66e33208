import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { call, request } from '../../../test/support/native-sampler.js'
import { tempDir } from '../../../test/support/temp-dir.js'
import { testData } from '../../../test/support/test-data.js'
import { NativeEngine } from '../../engine/native/engine.js'
import { createModel } from '../create.js'
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
const { tokens, texts, count } = JSON.parse(asked)
const llama = await getLlama({ gpu: false, build: 'never', logLevel: LlamaLogLevel.error, maxThreads: 2 })
const model = await llama.loadModel({ modelPath })
const context = await model.createContext({ contextSize: 512 })
const greedy = []
for await (const token of context.getSequence().evaluate(tokens, { temperature: 0 })) {
  greedy.push(token)
  if (greedy.length === count) break
}
console.log(JSON.stringify({ greedy, tokenized: texts.map((text) => [...model.tokenize(text, true)]) }))
process.exit(0)
`

const texts = ['Hello world, 1234 + 56!', '  two  spaces\n\nlines', 'naïve Ω 你好 🎉', "it's done <|im_end|>\n"]
const COUNT = 48

async function inLlama(dir: string, model: string, tokens: number[]) {
  const file = join(llama, 'trinity-ask.mjs')
  await writeFile(file, script)
  const asked = JSON.stringify({ tokens, texts, count: COUNT })
  const { stdout } = await promisify(execFile)(process.execPath, [file, join(dir, model), asked], { cwd: llama })
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as { greedy: number[]; tokenized: number[][] }
}

async function ours(path: string, prompt: number[]): Promise<number[]> {
  const model = await new NativeEngine().openSample({ path, seed: 1, maxModelLen: 512 }, call())
  const [sample] = await model.sample(request(prompt, { temperature: 0, maxTokens: COUNT }), call())
  await model.close()
  return [...sample.tokens]
}

describe.skipIf(absent)(`exported models in llama.cpp${note}`, { timeout: 240_000 }, () => {
  const real = testData('models/minimind2_small_hf')
  it.skipIf(real.absent)(`f16 and f32 answer as we do, the others are read${real.note}`, async () => {
    const dir = await tempDir()
    const tokenizer = await Tokenizer.load(real.path)
    const prompt = [...tokenizer.encode('<|im_start|>user\nWhat is the sky?<|im_end|>\n<|im_start|>assistant\n')]
    const expected = await ours(real.path, prompt)
    for (const type of ['f16', 'f32', 'bf16', 'q8_0', 'q4_0', 'q4_k_m'] as FileType[]) {
      await exportGguf(real.path, join(dir, `${type}.gguf`), { type })
      const { greedy, tokenized } = await inLlama(dir, `${type}.gguf`, prompt)
      expect(tokenized).toEqual(texts.map((text) => [...tokenizer.encode(text)]))
      if (type === 'f16' || type === 'f32') expect(greedy).toEqual(expected)
      else expect(greedy).toHaveLength(COUNT)
    }
  })

  it.each(['llama', 'qwen2', 'qwen3'] as const)('%s with the tokenizer of Qwen', async (arch) => {
    const dir = await tempDir()
    const words = join('node_modules', '@lenml', 'tokenizer-qwen2_5', 'models')
    await createModel({
      out: join(dir, 'm'),
      arch,
      layers: 2,
      hidden: 64,
      heads: 4,
      kvHeads: 2,
      tokenizer: { kind: 'from', dir: words },
    })
    await exportGguf(join(dir, 'm'), join(dir, 'm.gguf'), { type: 'f32' })
    const tokenizer = await Tokenizer.load(join(dir, 'm'))
    const again = await Tokenizer.load(join(dir, 'm.gguf'))
    for (const text of texts) expect(again.encode(text)).toEqual(tokenizer.encode(text))
    expect(JSON.parse(await readFile(join(dir, 'm', 'config.json'), 'utf8')).model_type).toBe(arch)
    const prompt = [...tokenizer.encode('Count: one, two,')]
    const { greedy, tokenized } = await inLlama(dir, 'm.gguf', prompt)
    expect(tokenized).toEqual(texts.map((text) => [...tokenizer.encode(text)]))
    expect(greedy).toEqual(await ours(join(dir, 'm'), prompt))
  })

  const stories = testData('models/stories260K/hf')
  it.skipIf(stories.absent)(`SentencePiece${stories.note}`, async () => {
    const dir = await tempDir()
    await exportGguf(stories.path, join(dir, 'm.gguf'), { type: 'f32' })
    const tokenizer = await Tokenizer.load(stories.path)
    const prompt = [...tokenizer.encode('Once upon a time', { addSpecial: true })]
    const { greedy } = await inLlama(dir, 'm.gguf', prompt)
    expect(greedy).toEqual(await ours(stories.path, prompt))
  })
})
