import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { torchTestPython } from '../../../test/support/python.js'
import { defineLoss } from '../../graph/index.js'
import { createModel } from '../../model/create.js'
import type { Call, LoraSpec, Row } from '../contract.js'
import { NativeEngine } from './engine.js'

const python = torchTestPython()

/** Log-probs (or values) that Transformers computes with each saved directory; one process, its start is slow. */
const script = `
import json, sys, torch
from transformers import AutoModelForCausalLM, AutoModelForTokenClassification
out = []
for job in json.load(open(sys.argv[1])):
    loader = AutoModelForCausalLM if job["head"] == "lm" else AutoModelForTokenClassification
    model, info = loader.from_pretrained(job["path"], dtype=torch.float32, output_loading_info=True)
    assert not info["missing_keys"] and not info["unexpected_keys"], info
    for tokens in job["rows"]:
        with torch.no_grad():
            logits = model.eval()(torch.tensor([tokens])).logits[0, :-1]
        if job["head"] == "lm":
            logits = torch.log_softmax(logits, -1).gather(-1, torch.tensor(tokens[1:])[:, None])
        out += logits[:, 0].tolist()
print(json.dumps(out))
`

const loss = defineLoss((g) => g.logprob.neg().total())
const valueLoss = defineLoss((g) => g.value.sub(1).mul(g.value).total())

describe.skipIf(python.absent)(`what training saves loads in Transformers${python.note}`, () => {
  const engine = new NativeEngine()
  const made = mkdtemp(join(tmpdir(), 'trinity-hf-'))
  let seq = 0
  const call = (): Call => ({ seq: ++seq, deadlineMs: 60_000 })
  afterAll(async () => {
    await engine.close()
    await rm(await made, { recursive: true, force: true })
  })

  const cases: readonly ['llama' | 'qwen2' | 'qwen3', 'lm' | 'value', LoraSpec | undefined][] = [
    ['llama', 'lm', undefined],
    ['qwen2', 'lm', { rank: 2, alpha: 8, targetModules: 'all-linear' }],
    ['qwen3', 'value', undefined],
  ]
  const rows = [5, 11].map((length, i): Row => {
    const tokens = Int32Array.from({ length }, (_, j) => (17 * i + j * j) % 250)
    return { id: `${i}`, tokens, start: 1, mask: new Uint8Array(length - 1).fill(1), temperature: 1, columns: {} }
  })

  it('a policy, a policy with a merged adapter, a critic', async () => {
    const jobs = []
    const own: number[] = []
    for (const [arch, head, lora] of cases) {
      const path = join(await made, arch)
      await createModel({
        out: path,
        arch,
        hidden: 32,
        layers: 2,
        heads: 4,
        kvHeads: 2,
        tie: arch !== 'qwen3',
        seed: 2,
      })
      const model = await engine.openTrain({ path, head, lora, seed: 3 }, call())
      for (let i = 0; i < 2; i++) {
        await model.forwardBackward({ rows, tokenBudget: 99 }, head === 'lm' ? loss : valueLoss, call())
        await model.optimStep({ lr: 0.01, betas: [0.9, 0.99], eps: 1e-8, weightDecay: 0, gradClip: 1 }, call())
      }
      const kind = head === 'lm' ? 'logprob' : 'value'
      const scores = await model.forward({ rows, tokenBudget: 99 }, { scores: [kind] }, call())
      own.push(...scores.flatMap((score) => [...score[kind]!]))
      await model.save(join(path, 'state'), call())
      await model.close()
      jobs.push({ path: join(path, 'state', 'huggingface'), head, rows: rows.map(({ tokens }) => [...tokens]) })
    }
    const input = join(await made, 'jobs.json')
    await writeFile(input, JSON.stringify(jobs))
    const env = { ...process.env, TRANSFORMERS_VERBOSITY: 'error' }
    const { stdout } = await promisify(execFile)(python.path, ['-c', script, input], { env })
    const theirs = JSON.parse(stdout.trim().split('\n').at(-1)!) as number[]
    expect(theirs).toHaveLength(own.length)
    for (const [i, x] of own.entries()) expect(Math.abs(x - theirs[i])).toBeLessThan(2e-5)
  }, 180_000)
})
