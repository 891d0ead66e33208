import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tempDir } from '../../../test/support/temp-dir.js'
import { createModel } from '../create.js'
import { type ModelDir, openModelDir } from '../dir.js'
import { parameterCount } from '../layout.js'
import { saveModel } from '../save.js'
import { exportGguf } from './export.js'
import { GgufFile } from './file.js'
import type { FileType } from './file-type.js'
import { unpackedGguf, unpackGguf } from './unpack.js'

const EMBEDDING = 'model.embed_tokens.weight'
const HEAD = 'lm_head.weight'

/** A GGUF file with an embedding and a head of its own, which is the embedding with noise of this relative size. */
async function fileWith(dir: string, type: FileType, noise: number): Promise<string> {
  await createModel({ out: join(dir, 'm'), arch: 'qwen2', layers: 1, hidden: 256, heads: 4, vocab: 512, seed: 7 })
  const model = await openModelDir(join(dir, 'm'))
  const head = await model.readTensor(EMBEDDING)
  const own = await model.readTensor(HEAD)
  const tensors = await Promise.all(
    model.tensorNames().map(async (name) => {
      const values = name === HEAD ? head.map((x, i) => x + noise * own[i]) : await model.readTensor(name)
      return { name, dtype: 'F32' as const, shape: model.tensorInfo(name).shape, data: values }
    }),
  )
  await saveModel(join(dir, 'both'), { configJson: model.configJson, tensors, from: join(dir, 'm') })
  await model.close()
  await exportGguf(join(dir, 'both'), join(dir, 'both.gguf'), { type })
  return join(dir, 'both.gguf')
}

async function expectTied(model: ModelDir, file: string, kept: string): Promise<void> {
  expect(model.config.tieEmbeddings).toBe(true)
  expect(model.hasTensor(HEAD)).toBe(false)
  const elements = model.tensorNames().reduce((sum, name) => sum + model.tensorInfo(name).size, 0)
  expect(elements).toBe(parameterCount(model.config))
  const gguf = await GgufFile.open(file)
  expect([...gguf.tensors.keys()]).toEqual(expect.arrayContaining(['token_embd.weight', 'output.weight']))
  expect(await model.readTensor(EMBEDDING)).toEqual(await gguf.readFloat32(kept))
  await gguf.close()
  await model.close()
}

describe('a GGUF file with an embedding and a head', () => {
  it('is tied if both are one matrix in two quantizations, and keeps the finer one', async () => {
    const dir = await tempDir()
    const file = await fileWith(dir, 'q4_k_m', 0)
    await expectTied(await openModelDir(file), file, 'output.weight')
    const notes: string[] = []
    await unpackGguf(file, join(dir, 'out'), { note: (text) => notes.push(text) })
    expect(notes).toEqual([expect.stringMatching(/cosine 0\.99\d\d\): output\.weight \(Q6_K\) is kept/)])
    await expectTied(await openModelDir(join(dir, 'out')), file, 'output.weight')
    const [tied, both] = await Promise.all(['out', 'both'].map((name) => stat(join(dir, name, 'model.safetensors'))))
    expect(tied.size).toBeLessThan(both.size - 512 * 256 * 4 + 1000)
    const cached = await unpackedGguf(file, (text) => notes.push(text), dir)
    expect(JSON.parse(await readFile(join(cached, 'config.json'), 'utf8')).tie_word_embeddings).toBe(true)
    expect(notes.at(-1)).toContain('are one matrix')
  })

  it('is tied if both are the same floats', async () => {
    const dir = await tempDir()
    const file = await fileWith(dir, 'bf16', 0)
    await expectTied(await openModelDir(file), file, 'token_embd.weight')
  })

  it.each<[FileType, number]>([
    ['q4_k_m', 1],
    ['q4_k_m', 0.3],
    ['q8_0', 0.3],
    ['f16', 0.05],
    ['f32', 0.05],
  ])('stays as it is if they differ: %s, noise of %d', async (type, noise) => {
    const dir = await tempDir()
    const file = await fileWith(dir, type, noise)
    const notes: string[] = []
    await unpackGguf(file, join(dir, 'out'), { note: (text) => notes.push(text) })
    expect(notes).toEqual([])
    const model = await openModelDir(join(dir, 'out'))
    expect([model.config.tieEmbeddings, model.hasTensor(HEAD)]).toEqual([false, true])
    await model.close()
  })
})
