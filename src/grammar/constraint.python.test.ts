import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { torchTestPython } from '../../test/support/python.js'
import { TorchEngine } from '../engine/torch/engine.js'
import { createModel, Tokenizer } from '../model/index.js'
import { constraintFor } from './constraints.js'

const python = torchTestPython()

describe.skipIf(python.absent)(`a constraint on the torch engine${python.note}`, () => {
  const engine = new TorchEngine({ python: python.path, device: 'cpu' })
  afterAll(() => engine.close())

  it('holds every sample of a request to the schema', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'trinity-constraint-'))
    try {
      await createModel({ out: dir, layers: 1, hidden: 32, heads: 2, maxPositions: 256, seed: 3 })
      const tokenizer = await Tokenizer.load(dir)
      const sampler = await engine.openSample({ path: dir, seed: 1 }, { seq: 1, deadlineMs: 120_000 })
      const schema = { type: 'object', properties: { n: { type: 'integer', maximum: 500 }, s: { enum: ['é', 'x'] } } }
      const constraint = constraintFor(tokenizer, sampler.info, { type: 'json_schema', schema })
      const request = {
        prompt: tokenizer.encode('go'),
        n: 6,
        params: { temperature: 1, maxTokens: 150, seed: 5 },
        allowed: constraint.follow(),
      }
      const samples = await sampler.sample(request, { seq: 2, deadlineMs: 120_000 })
      const whole = samples.filter(({ finish }) => finish === 'stop')
      expect(whole.length).toBeGreaterThan(2)
      for (const { tokens, logprobs, drawnLogprobs } of whole) {
        const { n = 0, s = 'x', ...more } = JSON.parse(tokenizer.decode(tokens))
        expect([n <= 500, ['é', 'x'].includes(s), more]).toEqual([true, true, {}])
        expect(drawnLogprobs!.every((drawn, i) => drawn >= logprobs[i] - 1e-5)).toBe(true)
      }
    } finally {
      await rm(dir, { recursive: true, force: true })
    }
  }, 120_000)
})
