import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { torchTestPython } from '../../../test/support/python.js'
import { fixture } from '../../../test/support/test-data.js'
import { defineLoss } from '../../graph/index.js'
import { directLink } from '../../testing/direct-link.js'
import type { Call, Row, SampleModel, TrainModel } from '../contract.js'
import { TorchEngine } from './engine.js'

const python = torchTestPython()

describe.skipIf(python.absent)(`torch: two processes train, two sample${python.note}`, () => {
  let seq = 0
  const call = (): Call => ({ seq: ++seq, deadlineMs: 120_000 })
  let engine: TorchEngine
  let trained: TrainModel
  let samplers: SampleModel[]

  beforeAll(async () => {
    engine = new TorchEngine({ python: python.path, device: 'cpu', devices: 2, samplers: 2 })
    const path = fixture('tiny-qwen2')
    trained = await engine.openTrain({ path, seed: 1 }, call())
    samplers = await Promise.all([0, 1].map(() => engine.openSample({ path, seed: 1, cacheTokens: 512 }, call())))
  }, 120_000)
  afterAll(() => engine.close())

  it('carries trained weights to both under a version, twice the same', async () => {
    const rows = someRows()
    for (let i = 0; i < 2; i++) {
      await trained.forwardBackward({ rows, tokenBudget: 64 }, likelier, call())
      await trained.optimStep({ lr: 0.01, betas: [0.9, 0.999], eps: 1e-8, weightDecay: 0, gradClip: 1 }, call())
    }
    const before = await samplers[0].score(rows, call())
    const link = directLink(engine, trained, samplers)
    const long = samplers[0].sample(
      { prompt: Int32Array.of(3, 7), n: 2, params: { temperature: 1, maxTokens: 60, ignoreEos: true, seed: 1 } },
      call(),
    )
    const { checksum } = await link.transfer(1, 'continue', call())
    expect((await link.transfer(2, 'finish', call())).checksum).toBe(checksum)
    const theirs = await trained.forward({ rows, tokenBudget: 64 }, { scores: ['logprob'] }, call())
    for (const sampler of samplers) {
      expect(sampler.version).toBe(2)
      const own = await sampler.score(rows, call())
      for (const [i, row] of own.entries()) {
        for (const [j, value] of row.logprob!.entries()) expect(value).toBeCloseTo(theirs[i].logprob![j], 4)
      }
      expect(own).not.toEqual(before)
    }
    for (const sample of await long) {
      expect(sample.tokens).toHaveLength(60)
      expect(sample.versions.map(({ version }) => version)).toEqual([...new Set(sample.versions.map((v) => v.version))])
    }
    expect(engine.caps.weights).toContain('nccl')
  }, 120_000)
})

const likelier = defineLoss((g) =>
  g.logprob
    .neg()
    .total()
    .div(g.norm('tokens', (rows) => rows.length)),
)

function someRows(): Row[] {
  return [5, 9, 7].map((length, i) => {
    const tokens = Int32Array.from({ length }, (_, j) => (i * 7 + j * 3 + 3) % 20)
    return { id: `${i}`, tokens, start: 1, mask: new Uint8Array(length - 1).fill(1), temperature: 1, columns: {} }
  })
}
