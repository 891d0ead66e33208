import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { spreadWeights } from '../../../test/support/spread-weights.js'
import { tempDir } from '../../../test/support/temp-dir.js'
import { testData } from '../../../test/support/test-data.js'
import { TrinityError } from '../../base/error.js'
import { families } from '../architecture.js'
import { createModel } from '../create.js'
import { openModelDir } from '../dir.js'
import { inverseFrequencies } from '../rope.js'
import { bytesOf } from '../safetensors.js'
import { Tokenizer } from '../tokenizer.js'
import { exportGguf } from './export.js'
import { GgufFile } from './file.js'
import { scalingOf } from './rope-factors.js'
import { unpackedGguf, unpackGguf } from './unpack.js'
import { type Entry, writeGguf } from './write.js'

const tiny = { layers: 2, hidden: 32, heads: 4, kvHeads: 2, intermediate: 64 }
const texts = ['Hello world, 1234 + 56!', '  two  spaces\n\nlines\t', 'naïve Ω 你好 🎉', "it's <|end|> done"]

async function expectSame(original: string, other: string): Promise<void> {
  const [a, b] = [await openModelDir(original), await openModelDir(other)]
  expect(b.tensorNames().sort()).toEqual(a.tensorNames().sort())
  for (const name of a.tensorNames()) {
    const [left, right] = [bytesOf(await a.readTensor(name)), bytesOf(await b.readTensor(name))]
    expect([name, Buffer.compare(left, right)]).toEqual([name, 0])
  }
  const { dtype: _a, architecture: _b, ...rest } = a.config
  // Both are one in llama.cpp.
  const family = rest.family === 'mistral' ? 'llama' : rest.family
  expect(b.config).toMatchObject({ ...rest, family, labels: b.config.labels })
  await a.close()
  await b.close()
  const [left, right] = [await Tokenizer.load(original), await Tokenizer.load(other)]
  for (const text of texts) {
    expect([...right.encode(text, { addSpecial: true })]).toEqual([...left.encode(text, { addSpecial: true })])
    expect(right.decode(left.encode(text))).toBe(left.decode(left.encode(text)))
  }
  expect(right.chatTemplate).toBe(left.chatTemplate)
  expect(right.specialTokens).toMatchObject(left.specialTokens)
}

describe('a model that is written as GGUF and read again', () => {
  it.each(families)('%s is the same', async (arch) => {
    const dir = await tempDir()
    const [original, file] = [join(dir, 'original'), join(dir, 'model.gguf')]
    // In the sum 1 + weight that is stored of Gemma's norms, the bits of an f16 are kept.
    const tie = ['qwen3', 'gemma2', 'gemma3_text'].includes(arch)
    await createModel({ ...tiny, out: original, arch, tie, vocab: 300, dtype: 'F16' })
    await spreadWeights(original)
    expect(await exportGguf(original, file, { type: 'f32' })).toEqual([])
    await expectSame(original, file)
    await unpackGguf(file, join(dir, 'hf'))
    await expectSame(original, join(dir, 'hf'))
    expect((await readdir(dir)).sort()).toEqual(['hf', 'model.gguf', 'original'])
  })

  it('a stretched rotation survives', async () => {
    const dir = await tempDir()
    const scaling = {
      type: 'llama3',
      factor: 8,
      lowFreqFactor: 1,
      highFreqFactor: 4,
      originalMaxPositions: 8192,
    } as const
    const rope = { theta: 500000, scaling }
    await createModel({ out: join(dir, 'm'), ...tiny, hidden: 64, rope, maxPositions: 32768 })
    await exportGguf(join(dir, 'm'), join(dir, 'm.gguf'), { type: 'f16' })
    const read = await openModelDir(join(dir, 'm.gguf'))
    expect(inverseFrequencies(read.config.rope, 32)).toEqual(inverseFrequencies(rope, 32))
    await read.close()
    expect(scalingOf(Float32Array.of(1, 2, 3), 10000, 6)).toBeUndefined()
  })

  const stories = testData('models/stories260K/hf')
  it.skipIf(stories.absent)(`SentencePiece survives${stories.note}`, async () => {
    const dir = await tempDir()
    await exportGguf(stories.path, join(dir, 'm.gguf'), { type: 'f32' })
    await expectSame(stories.path, join(dir, 'm.gguf'))
  })

  it('is unpacked once', async () => {
    const home = await tempDir()
    const file = join(home, 'tiny.gguf')
    await createModel({ ...tiny, out: join(home, 'm') })
    await exportGguf(join(home, 'm'), file, { type: 'q8_0' })
    const notes: string[] = []
    const first = await unpackedGguf(file, (text) => notes.push(text), home)
    expect(await unpackedGguf(file, (text) => notes.push(text), home)).toBe(first)
    expect(notes).toHaveLength(1)
    expect(await readdir(first)).toContain('tokenizer.json')
  })

  it('a chat model of characters is refused by name', async () => {
    const dir = await tempDir()
    await createModel({
      out: join(dir, 'm'),
      hidden: 32,
      heads: 2,
      layers: 1,
      tokenizer: { kind: 'chars', characters: 'abc' },
    })
    await expect(exportGguf(join(dir, 'm'), join(dir, 'm.gguf'), { type: 'f16' })).rejects.toThrow('neither byte-level')
    expect(await readdir(dir)).toEqual(['m'])
  })
})

describe('files that are not what they say', () => {
  const open = async (path: string) => (await GgufFile.open(path)).close()
  const entry = (value: string): Entry => ({ type: 'text', value })

  it('names what it does not support', async () => {
    const dir = await tempDir()
    const path = join(dir, 'm.gguf')
    await writeGguf(path, new Map([['general.architecture', entry('mamba')]]), [])
    await expect(openModelDir(path)).rejects.toThrow("architecture 'mamba'")
    await writeGguf(path, new Map([['tokenizer.ggml.model', entry('t5')]]), [])
    await expect(Tokenizer.load(path)).rejects.toThrow("kind 't5'")
    const pre = new Map([
      ['tokenizer.ggml.model', entry('gpt2')],
      ['tokenizer.ggml.pre', entry('tekken')],
    ] as const)
    await writeGguf(path, pre, [])
    await expect(Tokenizer.load(path)).rejects.toThrow("'tekken'")
  })

  it('refuses truncated files, lying counts and anything else at all with one error', async () => {
    const dir = await tempDir()
    const [good, bad] = [join(dir, 'good.gguf'), join(dir, 'bad.gguf')]
    await createModel({ ...tiny, out: join(dir, 'm') })
    await exportGguf(join(dir, 'm'), good, { type: 'f16' })
    const bytes = await readFile(good)
    for (const length of [0, 3, 23, 24, 100, 5000, bytes.length - 33]) {
      await writeFile(bad, bytes.subarray(0, length))
      await expect(open(bad)).rejects.toThrow(TrinityError)
    }
    for (const at of [8, 16]) {
      const lying = Buffer.from(bytes)
      lying.writeBigUInt64LE(1n << 40n, at)
      await writeFile(bad, lying)
      await expect(open(bad)).rejects.toThrow('more than the file can hold')
    }
  })

  it.each(['llama', 'qwen3_moe', 'gemma3_text', 'phi3'] as const)(
    '%s with other bytes is read or refused',
    async (arch) => {
      const dir = await tempDir()
      const [good, bad] = [join(dir, 'good.gguf'), join(dir, 'bad.gguf')]
      await createModel({ ...tiny, out: join(dir, 'm'), arch, tie: arch === 'gemma3_text' })
      await exportGguf(join(dir, 'm'), good, { type: 'f16' })
      const bytes = await readFile(good)
      const change = fc.record({ at: fc.nat(4000), value: fc.nat(255) })
      await fc.assert(
        fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
          const changed = Buffer.from(bytes)
          for (const { at, value } of changes) changed[at] = value
          await writeFile(bad, changed)
          const failed = await openModelDir(bad).then(
            (model) => model.close(),
            (error) => error,
          )
          expect(failed === undefined || failed instanceof TrinityError).toBe(true)
        }),
        { numRuns: 30 },
      )
    },
  )

  it('does not open a folder', async () => {
    await expect(open(await tempDir())).rejects.toThrow('is a folder')
  })
})
