import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ReferenceModel } from '../../test/support/reference-model.js'
import { fixture, oraclePython } from '../../test/support/shared-data.js'
import { Chat } from './chat.js'
import { type CreateModelOptions, createModel } from './create.js'
import { openModelDir } from './dir.js'
import { describeModel, renderModel } from './info.js'
import { parseNewTokenizer } from './new-tokenizer.js'
import { Tokenizer } from './tokenizer.js'

let root: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'trinity-model-'))
})
afterAll(() => rm(root, { recursive: true }))

const small = { layers: 2, hidden: 32, heads: 4, kvHeads: 2, intermediate: 48 }
const kinds: Record<string, Omit<CreateModelOptions, 'out'>> = {
  llama: { ...small, arch: 'llama', tokenizer: parseNewTokenizer('chars:0123456789+=\\n'), tie: true },
  qwen2: { ...small, arch: 'qwen2', dtype: 'BF16' },
  qwen3: { ...small, arch: 'qwen3', dtype: 'F16', headDim: 12, vocab: 320 },
  reward: { ...small, arch: 'llama', head: 'sequence' },
  scaled: {
    ...small,
    rope: {
      theta: 500000,
      scaling: { type: 'llama3', factor: 8, lowFreqFactor: 1, highFreqFactor: 4, originalMaxPositions: 64 },
    },
  },
}

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

const python = oraclePython()
describe.skipIf(python.absent)(`made models in Transformers${python.note}`, () => {
  it('load, and compute what our reference computes', { timeout: 120_000 }, async () => {
    const names = ['llama', 'qwen2', 'qwen3', 'scaled']
    for (const [name, kind] of Object.entries(kinds)) {
      await createModel({ out: join(root, name), ...kind, seed: 3, force: true })
    }
    const script = `
import json, sys, torch
from transformers import AutoModelForCausalLM, AutoTokenizer, AutoModelForSequenceClassification
out = {}
for name in ${JSON.stringify(names)}:
    path = sys.argv[1] + "/" + name
    tokenizer = AutoTokenizer.from_pretrained(path)
    model, report = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32, output_loading_info=True)
    chat = tokenizer.apply_chat_template([{"role": "user", "content": "1+1=\\n"}], add_generation_prompt=True, tokenize=True)
    ids = chat["input_ids"] if hasattr(chat, "keys") else chat
    with torch.no_grad():
        logp = torch.log_softmax(model(torch.tensor([ids])).logits[0, :-1].float(), -1)
    out[name] = {"ids": ids, "text": tokenizer.decode(ids), "eos": tokenizer.eos_token_id,
                 "missing": sorted(report["missing_keys"]), "unexpected": sorted(report["unexpected_keys"]),
                 "logprobs": [logp[i, t].item() for i, t in enumerate(ids[1:])]}
model, report = AutoModelForSequenceClassification.from_pretrained(sys.argv[1] + "/reward", output_loading_info=True)
out["reward"] = {"missing": sorted(report["missing_keys"]), "labels": model.config.num_labels}
print(json.dumps(out))
`
    const { stdout } = await promisify(execFile)(python.path, ['-c', script, root], { maxBuffer: 1e7 })
    type Report = { ids: number[]; text: string; eos: number; missing: []; unexpected: []; logprobs: number[] }
    const reports = JSON.parse(stdout) as Record<string, Report> & { reward: { missing: []; labels: number } }
    for (const name of names) {
      const dir = await openModelDir(join(root, name))
      const chat = await Chat.load(dir.path)
      const report = reports[name]
      const ids = chat.encodePrompt([{ role: 'user', content: '1+1=\n' }])
      expect({ name, ids: Array.from(ids) }).toEqual({ name, ids: report.ids })
      expect(chat.tokenizer.decode(ids, { skipSpecial: false })).toBe(report.text)
      expect(chat.tokenizer.eosId).toBe(report.eos)
      expect([...report.missing, ...report.unexpected]).toEqual([])
      const { logprobs } = (await ReferenceModel.load(dir)).scores(ids)
      for (const [i, logprob] of logprobs.entries()) expect(logprob).toBeCloseTo(report.logprobs[i], 4)
      await dir.close()
    }
    expect(reports.reward).toEqual({ missing: [], labels: 1 })
  })
})
