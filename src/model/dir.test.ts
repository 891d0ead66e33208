import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { fixture, testData } from '../../test/support/test-data.js'
import { openModelDir } from './dir.js'
import { readSafetensors } from './safetensors.js'
import { type TensorToWrite, writeSafetensors } from './safetensors-write.js'
import { saveModel } from './save.js'
import { Tokenizer } from './tokenizer.js'

const root = await mkdtemp(join(tmpdir(), 'trinity-dir-'))
afterAll(() => rm(root, { recursive: true }))

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(root, 'm-'))
})

const copy = (name: string) => cp(fixture(name), dir, { recursive: true })

/** Writes the weights of `dir` again, changed. */
async function rewrite(change: (tensors: Map<string, TensorToWrite>) => void): Promise<void> {
  const path = join(dir, 'model.safetensors')
  const stored = await readSafetensors(path)
  const tensors = new Map([...stored].map(([name, tensor]) => [name, { name, ...tensor } as TensorToWrite]))
  change(tensors)
  await writeSafetensors(path, tensors.values())
}

async function patchConfig(change: Record<string, unknown>): Promise<void> {
  const path = join(dir, 'config.json')
  await writeFile(path, JSON.stringify({ ...JSON.parse(await readFile(path, 'utf8')), ...change }))
}

describe('openModelDir', () => {
  it('reads shards by their index and converts to f32', async () => {
    const model = await openModelDir(fixture('tiny-qwen3'))
    expect(model.tensorInfo('model.layers.1.mlp.up_proj.weight')).toMatchObject({ dtype: 'F16', shape: [56, 32] })
    const into = new Float32Array(56 * 32)
    expect(await model.readTensor('model.layers.1.mlp.up_proj.weight', into)).toBe(into)
    const raw = await model.readRaw('model.norm.weight')
    expect(raw.data.byteLength).toBe(64)
    await model.close()
  })

  it('reads model.safetensors where an index of shards was left beside it', async () => {
    await copy('tiny-llama')
    await writeFile(join(dir, 'model.safetensors.index.json'), '{"weight_map": {"lm_head.weight": "old.safetensors"}}')
    const model = await openModelDir(dir)
    expect(model.hasTensor('model.norm.weight')).toBe(true)
    await model.close()
  })

  it('takes the end tokens from generation_config.json when it names them', async () => {
    await copy('tiny-llama')
    const plain = await openModelDir(dir)
    expect(plain.eosTokenIds).toEqual([2, 5])
    await plain.close()
    await writeFile(join(dir, 'generation_config.json'), '{"eos_token_id": 7}')
    const model = await openModelDir(dir)
    expect(model.eosTokenIds).toEqual([7])
    await model.close()
  })

  it('says what is missing', async () => {
    await expect(openModelDir(join(dir, 'absent'))).rejects.toThrow('there is no directory')
    await expect(openModelDir(dir)).rejects.toThrow('has no config.json')
    await copy('tiny-llama')
    await rm(join(dir, 'model.safetensors'))
    await expect(openModelDir(dir)).rejects.toMatchObject({
      code: 'model/missing',
      message: expect.stringContaining('has no model.safetensors'),
    })
    await writeFile(join(dir, 'config.json'), '{"architectures": [')
    await expect(openModelDir(dir)).rejects.toMatchObject({ code: 'file/json' })
  })

  it('compares tensors with what the architecture needs', async () => {
    await copy('tiny-llama')
    await rewrite((tensors) => tensors.delete('model.layers.1.self_attn.k_proj.weight'))
    await expect(openModelDir(dir)).rejects.toThrow('missing tensors: model.layers.1.self_attn.k_proj.weight')
    await copy('tiny-llama')
    await patchConfig({ intermediate_size: 64 })
    await expect(openModelDir(dir)).rejects.toThrow('is [48, 32], config.json asks for [64, 32]')
    await patchConfig({ intermediate_size: 48, num_hidden_layers: 90 })
    await expect(openModelDir(dir)).rejects.toThrow(/and \d+ more/)
  })

  it('opens a language model for another head, and a tied one that also stores its output matrix', async () => {
    await copy('tiny-llama')
    await rewrite((tensors) => tensors.delete('lm_head.weight'))
    await expect(openModelDir(dir)).rejects.toThrow('lm_head.weight')
    await (await openModelDir(dir, { head: 'none' })).close()
    await expect(openModelDir(dir, { head: 'sequence' })).rejects.toThrow('score.weight')
    await patchConfig({ tie_word_embeddings: true })
    await (await openModelDir(dir)).close()
    await copy('tiny-llama')
    await patchConfig({ tie_word_embeddings: true })
    await expect(openModelDir(dir)).rejects.toMatchObject({ code: 'model/tied' })
    await rewrite((tensors) => {
      const embedding = tensors.get('model.embed_tokens.weight') as TensorToWrite
      tensors.set('lm_head.weight', { ...embedding, name: 'lm_head.weight' })
    })
    const model = await openModelDir(dir)
    expect(model.hasTensor('lm_head.weight')).toBe(true)
    await expect(model.readTensor('lm_hed.weight')).rejects.toMatchObject({
      hint: "the nearest name is 'lm_head.weight'",
    })
    await model.close()
  })

  it('refuses NaN and infinite weights when they are read', async () => {
    await copy('tiny-llama')
    const poison = new Float32Array(32).fill(1)
    poison[3] = Number.NaN
    await rewrite((tensors) =>
      tensors.set('model.norm.weight', { name: 'model.norm.weight', dtype: 'F32', shape: [32], data: poison }),
    )
    const model = await openModelDir(dir)
    await expect(model.readTensor('model.norm.weight')).rejects.toThrow("'model.norm.weight' holds NaN at element 3")
    await model.close()
  })

  it('says of a file that it is none', async () => {
    await copy('tiny-llama')
    const file = join(dir, 'config.json')
    const told = { code: 'model/none', message: `${file} is a file`, hint: 'give a model directory or a .gguf file' }
    await expect(openModelDir(file)).rejects.toMatchObject(told)
  })

  it('refuses an index that lies', async () => {
    const reject = async (index: unknown, text: string) => {
      await copy('tiny-qwen3')
      await writeFile(join(dir, 'model.safetensors.index.json'), JSON.stringify(index))
      await expect(openModelDir(dir)).rejects.toThrow(text)
    }
    await reject({}, 'has no weight_map')
    await reject({ weight_map: { a: '../../etc/passwd' } }, 'as a weight file')
    await reject({ weight_map: { a: 5 } }, 'as a weight file')
    await reject({ weight_map: { a: 'model-00003-of-00002.safetensors' } }, 'has no model-00003-of-00002.safetensors')
    await reject({ weight_map: { a: 'model-00001-of-00002.safetensors' } }, "holds 'a', but it does not")
  })

  it('gives back what saveModel wrote, tokenizer included', async () => {
    const source = await openModelDir(fixture('tiny-llama'))
    const tensors = source.tensorNames().map((name) => {
      const { dtype, shape } = source.tensorInfo(name)
      return { name, dtype, shape, data: () => source.readTensor(name) }
    })
    await saveModel(dir, { configJson: source.configJson, tensors, from: source.path })
    const saved = await openModelDir(dir)
    expect(saved.config).toEqual(source.config)
    for (const name of source.tensorNames()) expect(await saved.readTensor(name)).toEqual(await source.readTensor(name))
    expect((await Tokenizer.load(dir)).chatTemplate).toBe((await Tokenizer.load(source.path)).chatTemplate)
    await source.close()
    await saved.close()
  })

  it('keeps no file open after an error', async () => {
    await copy('tiny-llama')
    await patchConfig({ intermediate_size: 64 })
    const before = await openFiles()
    for (let i = 0; i < 20; i++) await expect(openModelDir(dir)).rejects.toThrow()
    expect(await openFiles()).toBeLessThanOrEqual(before + 2)
  })
})

/** Open file descriptors of this process; 0 where the system does not tell. */
async function openFiles(): Promise<number> {
  const { readdir } = await import('node:fs/promises')
  return (await readdir('/proc/self/fd').catch(() => [])).length
}

const minimind = testData('models/minimind2_small_hf')
describe.skipIf(minimind.absent)(`minimind2${minimind.note}`, () => {
  it('opens, and every tensor is read as f32', async () => {
    const model = await openModelDir(minimind.path)
    let elements = 0
    for (const name of model.tensorNames()) elements += (await model.readTensor(name)).length
    expect(elements).toBe(25_829_888)
    await model.close()
  })
})
