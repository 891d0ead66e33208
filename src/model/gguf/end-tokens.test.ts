import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tempDir } from '../../../test/support/temp-dir.js'
import { createModel } from '../create.js'
import { openModelDir } from '../dir.js'
import { Tokenizer } from '../tokenizer.js'
import { endTokenEntries } from './end-tokens.js'
import { exportGguf } from './export.js'
import { GgufFile } from './file.js'
import { unpackGguf } from './unpack.js'
import { type Entry, type GgufTensorToWrite, writeGguf } from './write.js'

const tiny = { layers: 1, hidden: 32, heads: 2 }

async function endsOf(dir: string): Promise<number[]> {
  const { eos_token_id } = JSON.parse(await readFile(join(dir, 'generation_config.json'), 'utf8'))
  return eos_token_id
}

describe('end tokens', () => {
  it('keeps all of them in a GGUF file', async () => {
    const dir = await tempDir()
    const model = join(dir, 'm')
    await createModel({ ...tiny, out: model })
    const { eosId } = await Tokenizer.load(model)
    const ends = [eosId!, 3, 65]
    await writeFile(join(model, 'generation_config.json'), JSON.stringify({ eos_token_id: ends }))
    expect(await exportGguf(model, join(dir, 'm.gguf'), { type: 'f16' })).toEqual([])
    await unpackGguf(join(dir, 'm.gguf'), join(dir, 'out'))
    expect(await endsOf(join(dir, 'out'))).toEqual(ends)
    const read = await openModelDir(join(dir, 'm.gguf'))
    expect(read.eosTokenIds).toEqual(ends)
    await read.close()
    await writeFile(join(model, 'generation_config.json'), JSON.stringify({ eos_token_id: [...ends, 66, 67] }))
    expect(await exportGguf(model, join(dir, 'more.gguf'), { type: 'f16' })).toEqual([
      expect.stringContaining('does not stop at ;'),
      expect.stringContaining('does not stop at <'),
    ])
  })

  it('includes tokens that llama.cpp knows by their text, as in Qwen2.5, whose files name one of two', async () => {
    const dir = await tempDir()
    await createModel({ ...tiny, out: join(dir, 'm') })
    await exportGguf(join(dir, 'm'), join(dir, 'm.gguf'), { type: 'f16' })
    const file = await GgufFile.open(join(dir, 'm.gguf'))
    const tokens = [...(file.metadata.get('tokenizer.ggml.tokens') as string[])]
    const kinds = Array.from(file.metadata.get('tokenizer.ggml.token_type') as ArrayLike<number>)
    const [end, control] = [tokens.indexOf('<|end|>'), tokens.indexOf('<|tool|>')]
    tokens[control] = '<|endoftext|>'
    tokens[70] = '<|im_end|>' // a normal token
    const metadata = new Map<string, Entry>()
    for (const [key, value] of file.metadata) metadata.set(key, entryOf(key, value))
    metadata.set('tokenizer.ggml.tokens', { type: 'texts', value: tokens })
    metadata.set('tokenizer.ggml.token_type', { type: 'i32s', value: kinds })
    const tensors = [...file.tensors.values()].map(
      ({ name, type, shape }): GgufTensorToWrite => ({
        name,
        type: type.name,
        shape,
        parts: [() => file.readRaw(name)],
      }),
    )
    await writeGguf(join(dir, 'other.gguf'), metadata, tensors)
    await file.close()
    await unpackGguf(join(dir, 'other.gguf'), join(dir, 'out'))
    expect(await endsOf(join(dir, 'out'))).toEqual([end, control])
  })

  it('writes those that llama.cpp does not know to the keys of a file', () => {
    const textOf = (id: number) => ({ 2: '<|im_end|>', 3: '<|endoftext|>' })[id]
    expect(endTokenEntries([2, 3, 8], textOf)).toEqual({
      entries: [
        ['eos_token_id', 2],
        ['eot_token_id', 8],
      ],
      rest: [],
    })
    expect(endTokenEntries([9, 8, 7, 6], textOf).rest).toEqual([6])
    expect(endTokenEntries([], textOf)).toEqual({ entries: [], rest: [] })
  })
})

function entryOf(key: string, value: unknown): Entry {
  if (typeof value === 'string') return { type: 'text', value }
  if (typeof value === 'boolean') return { type: 'bool', value }
  if (typeof value === 'number') return { type: /eps|freq_base/.test(key) ? 'f32' : 'u32', value }
  return { type: 'texts', value: value as string[] }
}
