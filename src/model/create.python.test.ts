import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { kinds } from '../../test/support/new-models.js'
import { torchTestPython } from '../../test/support/python.js'
import { ReferenceModel } from '../../test/support/reference-model.js'
import { Chat } from './chat.js'
import { createModel } from './create.js'
import { openModelDir } from './dir.js'

let root: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'trinity-model-'))
})
afterAll(() => rm(root, { recursive: true }))

const python = torchTestPython()
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
