import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { kinds, small } from '../../test/support/new-models.js'
import { fixture } from '../../test/support/test-data.js'
import { Chat } from './chat.js'
import { createModel } from './create.js'
import { openModelDir } from './dir.js'
import { describeModel, renderModel } from './info.js'
import { parseNewTokenizer } from './new-tokenizer.js'
import { Tokenizer } from './tokenizer.js'

let root: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'trinity-model-'))
})
afterAll(() => rm(root, { recursive: true }))

describe('createModel', () => {
  it.each(Object.keys(kinds))('makes a directory that opens: %s', async (name) => {
    const out = join(root, name)
    const { config, parameters } = await createModel({ out, ...kinds[name], seed: 3 })
    const dir = await openModelDir(out)
    expect(dir.config).toEqual(config)
    expect(dir.tensorInfo('model.norm.weight').dtype).toBe(kinds[name].dtype ?? 'F32')
    const elements = dir.tensorNames().reduce((sum, tensor) => sum + dir.tensorInfo(tensor).size, 0)
    expect(elements).toBe(parameters)
    const weights = await dir.readTensor('model.layers.0.mlp.up_proj.weight')
    const deviation = Math.sqrt(weights.reduce((sum, w) => sum + w * w, 0) / weights.length)
    expect(deviation).toBeGreaterThan(0.018)
    expect(deviation).toBeLessThan(0.022)
    await dir.close()
    expect((await readdir(root)).filter((file) => file.endsWith('.tmp'))).toEqual([])
  })

  it('depends on the seed only', async () => {
    const bytes = async (name: string, seed: number) => {
      const out = join(root, name)
      await createModel({ out, ...small, seed })
      return readFile(join(out, 'model.safetensors'))
    }
    const [first, same, other] = [await bytes('a', 1), await bytes('b', 1), await bytes('c', 2)]
    expect(first.equals(same)).toBe(true)
    expect(first.equals(other)).toBe(false)
  })

  it('gives a tokenizer with a chat template whose prefixes are stable', async () => {
    for (const tokenizer of [parseNewTokenizer('chars:0123456789+='), parseNewTokenizer('bytes')]) {
      const out = join(root, 'chat')
      await createModel({ out, ...small, tokenizer, force: true })
      const chat = await Chat.load(out)
      const messages = ['1+1=', '2', '2+2=', '4'].map((content, i) => ({ role: i % 2 ? 'assistant' : 'user', content }))
      const { tokens, mask, divergences } = chat.encodeWithMask(messages)
      expect(divergences).toEqual([])
      expect(chat.tokenizer.decode(tokens, { skipSpecial: false })).toBe(
        '<|user|>1+1=<|end|><|assistant|>2<|end|><|user|>2+2=<|end|><|assistant|>4<|end|>',
      )
      expect(mask.reduce((sum, m) => sum + m, 0)).toBe(4)
    }
  })

  it('takes over the tokenizer of another model, with another template if asked', async () => {
    const out = join(root, 'from')
    const tokenizer = parseNewTokenizer(`from:${fixture('tiny-llama')}`)
    await createModel({ out, ...small, tokenizer })
    expect((await Tokenizer.load(out)).chatTemplate).toContain('<|im_start|>')
    const template = join(root, 'template.jinja')
    await writeFile(template, '{{ messages[0].content }}')
    await createModel({ out, ...small, tokenizer, chatTemplate: template, force: true })
    expect((await Tokenizer.load(out)).chatTemplate).toBe('{{ messages[0].content }}')
    await expect(createModel({ out, ...small, chatTemplate: '{% nonsense', force: true })).rejects.toThrow('Jinja')
  })

  it('refuses what does not fit, and leaves nothing behind', async () => {
    const out = join(root, 'refused')
    await expect(createModel({ out, hidden: 30, heads: 4 })).rejects.toMatchObject({ code: 'model/config' })
    await expect(createModel({ out, kvHeads: 3 })).rejects.toThrow('divisor of 4')
    await expect(createModel({ out, vocab: 10 })).rejects.toThrow('too small for 263 tokens')
    await expect(createModel({ out: root })).rejects.toThrow('is not empty')
    expect(() => parseNewTokenizer('words')).toThrow("cannot make a tokenizer from 'words'")
    expect((await readdir(root)).filter((file) => file.includes('refused'))).toEqual([])
  })
})

describe('describeModel', () => {
  it('says what a directory holds and needs', async () => {
    const info = await describeModel(fixture('tiny-qwen3'))
    expect(info.memory.parameters).toBe(28816)
    expect(info.memory.training).toBe(16 * 28816)
    expect(info.memory.cachePerToken).toBe(2 * 2 * 4 * 12 * 4)
    expect(info.tokenizer?.chatTemplate).toBe(true)
    expect(renderModel(info)).toContain('Qwen3ForCausalLM')
    expect(renderModel(info)).toMatch(/q\/k norms/)
  })
})
