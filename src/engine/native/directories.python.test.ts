import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { torchTestPython } from '../../../test/support/python.js'
import type { JsonObject } from '../../base/file/json-file.js'
import { type CreateModelOptions, createModel } from '../../model/create.js'
import { nextCall } from '../calls.js'
import { NativeEngine } from './engine.js'

const engine = new NativeEngine()
let root: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'trinity-directories-'))
})
afterAll(async () => {
  await engine.close()
  await rm(root, { recursive: true })
})

const size = { layers: 2, hidden: 32, heads: 4, kvHeads: 2, vocab: 300, maxPositions: 64 }
const llama3 = { rope_type: 'llama3', factor: 8, low_freq_factor: 1, high_freq_factor: 4 }
const linear = { type: 'linear', factor: 4 }
const plainRope = { rope_type: 'default', rope_theta: 500 }
/** Directories whose keys can be read in more than one way. */
const directories: Record<string, [Partial<CreateModelOptions>, JsonObject]> = {
  mistral: [{ arch: 'mistral' }, {}],
  wide: [{ arch: 'mistral' }, { sliding_window: 64 }],
  both: [{}, { rope_scaling: linear, rope_parameters: plainRope }],
  newer: [{}, { rope_scaling: null, rope_parameters: { ...plainRope, ...linear } }],
  original: [
    {},
    { rope_scaling: { ...llama3, original_max_position_embeddings: 32 }, original_max_position_embeddings: 16 },
  ],
  unscaled: [{}, { rope_scaling: llama3 }],
  layers: [
    { arch: 'qwen2' },
    {
      use_sliding_window: true,
      sliding_window: 4,
      max_window_layers: 0,
      layer_types: ['full_attention', 'full_attention'],
    },
  ],
  reward: [{ arch: 'qwen2', head: 'sequence' }, { pad_token_id: 9 }],
}
const tokens = [5, 9, 1, 17, 3, 8, 2, 40, 11, 12, 13, 14, 15, 16, 200, 201, 9, 9]

const python = torchTestPython()
describe.skipIf(python.absent)(`directories that can be read in several ways${python.note}`, () => {
  it('compute what Transformers computes', { timeout: 300_000 }, async () => {
    for (const [name, [options, change]] of Object.entries(directories)) {
      const out = join(root, name)
      await createModel({ out, ...size, seed: 5, ...options })
      const file = join(out, 'config.json')
      await writeFile(
        file,
        JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), initializer_range: 0.02, ...change }),
      )
    }
    const script = `
import json, sys, torch
from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification
ids, out = torch.tensor([${JSON.stringify(tokens)}]), {}
for name in ${JSON.stringify(Object.keys(directories))}:
    kind = AutoModelForSequenceClassification if name == "reward" else AutoModelForCausalLM
    with torch.no_grad():
        logits = kind.from_pretrained(sys.argv[1] + "/" + name, dtype=torch.float32)(ids).logits[0]
    out[name] = logits.tolist() if name == "reward" else logits[:-1].log_softmax(-1).gather(1, ids[0, 1:, None])[:, 0].tolist()
print(json.dumps(out))
`
    const { stdout } = await promisify(execFile)(python.path, ['-c', script, root], { maxBuffer: 1e7 })
    const theirs = JSON.parse(stdout) as Record<string, number[]>
    const row = Int32Array.from(tokens)
    for (const name of Object.keys(directories)) {
      const own = name === 'reward' ? await reward(join(root, name), row) : await logprobs(join(root, name), row)
      for (const [i, x] of own.entries())
        expect({ name, i, off: Math.abs(x - theirs[name][i]) < 1e-5 }).toEqual({ name, i, off: true })
    }
  })
})

async function logprobs(path: string, row: Int32Array): Promise<number[]> {
  const model = await engine.openScore({ path }, nextCall())
  const mask = new Uint8Array(row.length - 1).fill(1)
  const rows = [{ id: 'r', bundle: 'r', tokens: row, start: 1, mask, temperature: 1, columns: {} }]
  const [scores] = await model.forward({ rows, tokenBudget: 64 }, { scores: ['logprob'] }, nextCall())
  return [...(scores.logprob as Float32Array)]
}

async function reward(path: string, row: Int32Array): Promise<number[]> {
  const model = await engine.openReward({ path }, nextCall())
  return [...(await model.reward([row], nextCall()))]
}
