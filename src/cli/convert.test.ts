import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tempDir } from '../../test/support/temp-dir.js'
import { fixture } from '../../test/support/test-data.js'
import { createModel } from '../model/create.js'
import { openModelDir } from '../model/dir.js'
import { fromFloat32, toFloat32 } from '../model/dtype.js'
import { convert } from './convert.js'
import { exitCodeOf } from './print.js'

async function said(options: Parameters<typeof convert>[0]): Promise<{ code: number; text: string }> {
  const lines: string[] = []
  const code = await convert(options, (line: string) => void lines.push(line))
  return { code, text: lines.join('\n') }
}

it('reports every checkpoint, and fails where one failed or is not there', async () => {
  const dir = await tempDir()
  await createModel({ out: join(dir, 'model'), layers: 1, hidden: 32, heads: 2 })
  await cp(join(dir, 'model'), join(dir, 'run', 'global_step_2', 'actor', 'huggingface'), { recursive: true })
  await mkdir(join(dir, 'run', 'global_step_4', 'actor'), { recursive: true })
  const all = await said({ checkpointDir: dir })
  expect(all.code).toBe(1)
  expect(all.text).toMatch(/finished {3}.*global_step_2: was whole already/)
  expect(all.text).toMatch(/failed {5}.*global_step_4: there are no weights in/)
  expect(all.text).toContain('2 checkpoints: 0 converted, 1 finished before, 1 failed')
  expect((await said({ checkpointDir: dir, step: '2' })).code).toBe(0)
  const apart = join(dir, 'apart')
  expect((await said({ checkpointDir: join(dir, 'run', 'global_step_2'), out: apart })).code).toBe(0)
  expect(await readdir(apart)).toContain('model.safetensors')
  const absent = await said({ checkpointDir: dir, step: '2,8' })
  expect([absent.code, absent.text]).toEqual([1, expect.stringContaining('global_step_8: there is none')])
  for (const [name, words] of [
    ['model', 'no global_step_*'],
    ['none', 'there is no '],
  ]) {
    const error = await said({ checkpointDir: join(dir, name) }).catch((caught) => caught)
    expect([error.message, exitCodeOf(error)]).toEqual([expect.stringContaining(words), 2])
  }
  await expect(said({ checkpointDir: dir, to: 'onnx' })).rejects.toThrow("cannot convert to 'onnx'")
  await expect(said({ checkpointDir: dir, dtype: 'int8' })).rejects.toThrow("cannot write 'int8'")
})

it.each(['tiny-gemma3', 'tiny-phi3', 'tiny-qwen3-moe'])(
  '%s keeps its names, joined matrices and experts',
  async (name) => {
    const out = join(await tempDir(), 'model')
    await said({ checkpointDir: fixture(name), out, dtype: 'keep' })
    const [was, is] = await Promise.all([fixture(name), out].map((path) => openModelDir(path)))
    expect(is.tensorNames().sort()).toEqual(was.tensorNames().sort())
    for (const tensor of was.tensorNames()) expect(await is.readTensor(tensor)).toEqual(await was.readTensor(tensor))
    await Promise.all([was.close(), is.close()])
  },
)

it('writes a GGUF file in bfloat16', async () => {
  const dir = await tempDir()
  const at = (name: string) => join(dir, name)
  await createModel({ out: at('m'), layers: 1, hidden: 32, heads: 2 })
  await said({ checkpointDir: at('m'), to: 'gguf', out: at('m.gguf'), type: 'q8_0' })
  await said({ checkpointDir: at('m.gguf'), out: at('f32'), dtype: 'keep' })
  const outcome = await said({ checkpointDir: at('m.gguf'), out: at('half'), dtype: 'bfloat16' })
  expect(outcome).toEqual({ code: 0, text: expect.stringContaining('converted') })
  const [whole, half] = await Promise.all(['f32', 'half'].map((name) => openModelDir(at(name))))
  expect([whole.config.dtype, half.config.dtype]).toEqual(['F32', 'BF16'])
  expect(half.tensorNames().sort()).toEqual(whole.tensorNames().sort())
  for (const name of whole.tensorNames()) {
    expect(half.tensorInfo(name).dtype).toBe('BF16')
    const rounded = new Float32Array(whole.tensorInfo(name).size)
    toFloat32('BF16', fromFloat32('BF16', await whole.readTensor(name)), rounded)
    expect(await half.readTensor(name)).toEqual(rounded)
  }
  await Promise.all([whole.close(), half.close()])
  await expect(said({ checkpointDir: at('m.gguf'), out: at('x'), dtype: 'int8' })).rejects.toThrow(
    "cannot write 'int8'",
  )
})

it('any one model as a directory, as GGUF, and for Ollama', async () => {
  const dir = await tempDir()
  const model = join(dir, 'model')
  await createModel({ out: model, layers: 1, hidden: 32, heads: 2 })
  expect((await said({ checkpointDir: model, out: join(dir, 'half') })).text).toContain('hugging face, ')
  const config = JSON.parse(await readFile(join(dir, 'half', 'config.json'), 'utf8'))
  expect(config.torch_dtype).toBe('bfloat16')
  await said({ checkpointDir: model, to: 'gguf', out: join(dir, 'm.gguf'), type: 'q8_0' })
  expect((await said({ checkpointDir: join(dir, 'm.gguf'), out: join(dir, 'back') })).code).toBe(0)
  expect(await readdir(join(dir, 'back'))).toContain('tokenizer.json')
  expect((await said({ checkpointDir: join(dir, 'm.gguf'), to: 'ollama', out: join(dir, 'ollama') })).code).toBe(0)
  expect((await readdir(join(dir, 'ollama'))).sort()).toEqual(['Modelfile', 'model.gguf'])
  const modelfile = await readFile(join(dir, 'ollama', 'Modelfile'), 'utf8')
  expect(modelfile).toContain(
    'FROM ./model.gguf\nTEMPLATE """{{ range .Messages }}{{ if eq .Role "system" }}{{ "<|system|>" }}',
  )
  expect(modelfile).toContain('PARAMETER stop "<|end|>"')
  await expect(said({ checkpointDir: model, to: 'gguf' })).rejects.toThrow('needs --out')
  await expect(said({ checkpointDir: model, to: 'gguf', out: 'x', type: 'q3' })).rejects.toThrow("no type 'q3'")
})

it('overwrites nothing unless it is told to, and leaves nothing of what fails', async () => {
  const dir = await tempDir()
  const [model, gguf, cut] = ['model', 'm.gguf', 'cut.gguf'].map((name) => join(dir, name))
  await createModel({ out: model, layers: 1, hidden: 32, heads: 2 })
  await writeFile(gguf, 'mine')
  const there = expect.objectContaining({ code: 'convert/target' })
  await expect(said({ checkpointDir: model, to: 'gguf', out: gguf })).rejects.toThrow(there)
  expect(await readFile(gguf, 'utf8')).toBe('mine')
  await said({ checkpointDir: model, to: 'gguf', out: gguf, overwrite: true })
  await expect(said({ checkpointDir: gguf, to: 'gguf', out: gguf, overwrite: true })).rejects.toThrow(there)
  await expect(said({ checkpointDir: gguf, out: model })).rejects.toThrow(there)
  expect((await said({ checkpointDir: gguf, out: model, overwrite: true })).code).toBe(0)
  await said({ checkpointDir: gguf, out: join(dir, 'new', 'one') })
  await writeFile(cut, (await readFile(gguf)).subarray(0, 2000))
  for (const to of ['hf', 'ollama'])
    await expect(said({ checkpointDir: cut, to, out: join(dir, 'half') })).rejects.toThrow()
  await expect(said({ checkpointDir: join(dir, 'none.gguf'), out: join(dir, 'x') })).rejects.toThrow('nothing at')
  expect((await readdir(dir)).sort()).toEqual(['cut.gguf', 'm.gguf', 'model', 'new'])
})
