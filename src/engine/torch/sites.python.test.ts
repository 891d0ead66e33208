import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { torchTestPython } from '../../../test/support/python.js'
import { fixture } from '../../../test/support/test-data.js'
import { defineLoss } from '../../graph/index.js'
import { directLink } from '../../testing/direct-link.js'
import type { Call, Row, SampleModel, TrainModel } from '../contract.js'
import { TorchEngine } from './engine.js'

const python = torchTestPython()

describe.skipIf(python.absent)(`torch: samplers with devices of their own${python.note}`, () => {
  let seq = 0
  const call = (): Call => ({ seq: ++seq, deadlineMs: 120_000 })
  const lines: [number, string][] = []
  let engine: TorchEngine
  let trained: TrainModel
  let split: SampleModel
  let judge: SampleModel

  beforeAll(async () => {
    // the sampler has two processes, each with half of the heads; an auxiliary model has one more
    engine = new TorchEngine({
      python: python.path,
      device: 'cpu',
      samplers: [[1, 2]],
      auxiliary: [{ samplers: [[3]], maxBatch: 3 }],
      log: (rank, line) => void lines.push([rank, line]),
    })
    const path = fixture('tiny-llama')
    const spec = { path, seed: 1, cacheTokens: 1024 }
    const opened = [engine.openSample(spec, call()), engine.openSample({ ...spec, auxiliary: 0 }, call())] as const
    trained = await engine.openTrain({ path, seed: 1 }, call())
    ;[split, judge] = await Promise.all(opened)
  }, 120_000)
  afterAll(() => engine.close())

  const ask = async (sampler: SampleModel) => {
    const params = { temperature: 0.8, topP: 0.9, maxTokens: 12, ignoreEos: true, seed: 4 }
    const samples = await sampler.sample({ prompt: Int32Array.of(3, 7, 11), n: 3, params }, call())
    return {
      tokens: samples.map(({ tokens }) => [...tokens]),
      logprobs: samples.flatMap(({ logprobs }) => [...logprobs]),
    }
  }

  it('are as many as there are devices for, and write logs of their own', () => {
    expect([engine.samplers(), engine.samplers(0), engine.samplers(1)]).toEqual([1, 1, 1])
    const told = lines.filter(([, line]) => line.startsWith('rank '))
    const said = told.map(([rank, line]) => `${rank}: ${line.replace(/ on cpu.*/, '')}`).toSorted()
    expect(said).toEqual(['0: rank 0 of 1', '1: rank 0 of 2', '2: rank 1 of 2', '3: rank 0 of 1'])
  })

  it('one over two processes says what one in a process says', async () => {
    const [whole, parts] = await Promise.all([ask(judge), ask(split)])
    expect(parts.tokens).toEqual(whole.tokens)
    for (const [i, value] of whole.logprobs.entries()) expect(parts.logprobs[i]).toBeCloseTo(value, 4)
    expect(split.info).toEqual(judge.info)
  }, 60_000)

  it('get the weights of the trainer; those of an auxiliary model stay', async () => {
    const before = await ask(judge)
    const rows = [rowOf(9), rowOf(6)]
    await trained.forwardBackward({ rows, tokenBudget: 64 }, likelier, call())
    await trained.optimStep({ lr: 0.05, betas: [0.9, 0.999], eps: 1e-8, weightDecay: 0, gradClip: 1 }, call())
    await directLink(engine, trained, [split]).transfer(1, 'finish', call())
    expect([split.version, judge.version]).toEqual([1, -1])
    const theirs = await trained.forward({ rows, tokenBudget: 64 }, { scores: ['logprob'] }, call())
    const [ours, old] = [await split.score(rows, call()), await judge.score(rows, call())]
    for (const [i, { logprob }] of theirs.entries())
      for (const [j, value] of logprob!.entries()) expect(ours[i].logprob![j]).toBeCloseTo(value, 4)
    expect(old).not.toEqual(ours)
    expect(await ask(judge)).toEqual(before)
  }, 120_000)

  it('a reward model has all devices of its engines', async () => {
    const told: number[] = []
    const log = (rank: number, line: string) => void (line.startsWith('rank ') && told.push(rank))
    const options = { python: python.path, device: 'cpu', auxiliary: [{}, { samplers: [[1], [2]] }], log } as const
    const other = new TorchEngine(options, 'tests.fake')
    try {
      const model = await other.openReward({ path: 'x', auxiliary: 1 }, call())
      expect(await model.reward([Int32Array.of(1, 2), Int32Array.of(5)], call())).toEqual(Float32Array.of(3, 5))
      expect(told.toSorted()).toEqual([1, 2])
    } finally {
      await other.close()
    }
  }, 60_000)
})

const likelier = defineLoss((g) => g.logprob.neg().total())

function rowOf(length: number): Row {
  const tokens = Int32Array.from({ length }, (_, i) => (i * 5 + length) % 19)
  return { id: `${length}`, tokens, start: 1, mask: new Uint8Array(length - 1).fill(1), temperature: 1, columns: {} }
}
