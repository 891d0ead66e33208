import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { torchTestPython } from '../../../test/support/python.js'
import { fixture } from '../../../test/support/test-data.js'
import { defineLoss } from '../../graph/index.js'
import { createModel } from '../../model/index.js'
import type { Call, Row } from '../contract.js'
import { TorchEngine, torchPython } from './engine.js'

const python = torchTestPython()
const dir = mkdtempSync(join(tmpdir(), 'trinity-torch-'))
afterAll(() => rmSync(dir, { recursive: true }))

let seq = 0
const call = (more: Partial<Call> = {}): Call => ({ seq: ++seq, deadlineMs: 60_000, ...more })
const row = (id: string, length: number, more: Partial<Row> = {}): Row => ({
  id,
  tokens: Int32Array.from({ length }, (_, i) => (i * 7 + length) % 19),
  start: 1,
  mask: new Uint8Array(length - 1).fill(1),
  temperature: 1,
  columns: {},
  ...more,
})
const batch = { rows: [row('a', 3), row('b', 5)], tokenBudget: 64 }
const step = { lr: 0.5, betas: [0.9, 0.99] as const, eps: 1e-8, weightDecay: 0, gradClip: 1 }
const loss = defineLoss((g) => g.logprob.neg().total())
const want = { scores: ['logprob'] as const }

describe.skipIf(python.absent)(`the torch engine over models that are not real${python.note}`, () => {
  const open: TorchEngine[] = []
  const engine = () => {
    const one = new TorchEngine({ python: python.path, device: 'cpu', graceMs: 2000 }, 'tests.fake')
    open.push(one)
    return one
  }
  afterEach(async () => {
    vi.unstubAllEnvs()
    await Promise.all(open.splice(0).map((one) => one.close()))
  })

  /** For tests after which the workers live on. */
  const lasting = new TorchEngine({ python: python.path, device: 'cpu' }, 'tests.fake')
  afterAll(() => lasting.close())

  it('drops a gradient that stands alone when its call fails, so that it can be repeated', async () => {
    const model = await lasting.openTrain({ path: 'slow' }, call())
    await expect(model.forwardBackward(batch, loss, call({ deadlineMs: 200 }))).rejects.toMatchObject({
      code: 'engine/deadline',
    })
    expect(await model.optimStep(step, call())).toEqual({ gradNorm: 0, applied: true })
  }, 60_000)

  it('refuses a step on a gradient that is not whole', async () => {
    const model = await lasting.openTrain({ path: 'later:memory' }, call())
    await model.forwardBackward(batch, loss, call())
    await expect(model.forwardBackward(batch, loss, call())).rejects.toMatchObject({ code: 'engine/memory' })
    for (const again of [() => model.optimStep(step, call()), () => model.forwardBackward(batch, loss, call())]) {
      await expect(again()).rejects.toMatchObject({ code: 'engine/incomplete-gradient' })
    }
    await model.discardGrad(call())
    expect(await model.optimStep(step, call())).toEqual({ gradNorm: 0, applied: true })
  }, 60_000)

  it('neither trains nor saves weights that a failed step has left, until others are loaded', async () => {
    const one = lasting
    const good = await one.openTrain({ path: 'x' }, call())
    await good.save(join(dir, 'good'), call())
    const model = await one.openTrain({ path: 'step:bug' }, call())
    await model.forwardBackward(batch, loss, call())
    await expect(model.optimStep(step, call())).rejects.toMatchObject({ code: 'engine/torch' })
    for (const next of [
      () => model.optimStep(step, call()),
      () => model.save(join(dir, 'bad'), call()),
      () => model.saveWeights(join(dir, 'bad'), call()),
    ]) {
      await expect(next()).rejects.toMatchObject({ code: 'engine/torn-model' })
    }
    await model.load(join(dir, 'good'), call())
    await model.save(join(dir, 'again'), call())
  }, 60_000)

  it('checks steps, rows and scores before it sends anything', async () => {
    const model = await lasting.openTrain({ path: 'die' }, call())
    await expect(model.optimStep({ ...step, lr: Number.NaN }, call())).rejects.toMatchObject({
      code: 'engine/bad-step',
    })
    const long = { rows: [row('long', 100)], tokenBudget: 64 }
    await expect(model.forward(long, want, call())).rejects.toMatchObject({ code: 'engine/bad-row' })
    await expect(model.forward(batch, { scores: ['value'] }, call())).rejects.toMatchObject({ code: 'engine/no-score' })
    const reads = defineLoss((g) => g.column('advantage').mul(g.logprob).total())
    await expect(model.forwardBackward(batch, reads, call())).rejects.toMatchObject({ code: 'graph/missing-column' })
    const norm = defineLoss((g) => g.logprob.total().div(g.norm('none', () => Number.NaN)))
    await expect(model.forwardBackward(batch, norm, call())).rejects.toMatchObject({ code: 'graph/bad-norm' })
  }, 60_000)

  it('closes at once, whatever is under way', async () => {
    const one = engine()
    const deaf = await one.openScore({ path: 'deaf' }, call())
    const asked = deaf.forward(batch, want, call())
    asked.catch(() => {})
    const starting = engine()
    const opening = starting.openScore({ path: 'x' }, call())
    opening.catch(() => {})
    await Promise.all([one.close(), starting.close()])
    await expect(asked).rejects.toMatchObject({ code: 'engine/closed' })
    await expect(opening).rejects.toMatchObject({ code: 'engine/closed' })
    await expect((async () => one.openScore({ path: 'x' }, call()))()).rejects.toMatchObject({ code: 'engine/closed' })
  }, 60_000)

  it('leaves a start that one caller gave up to the others', async () => {
    const one = engine()
    const first = one.openScore({ path: 'x' }, call({ deadlineMs: 50 }))
    first.catch(() => {})
    const second = one.openScore({ path: 'x' }, call())
    await expect(first).rejects.toMatchObject({ code: 'engine/deadline' })
    expect((await second).info.architecture).toBe('Fake')
  }, 60_000)

  it('begins with the workers that will be needed, and starts none twice', async () => {
    const started = async (what: 'train' | 'sample', samplers?: [number][]) => {
      const lines: string[] = []
      const log = (rank: number, line: string) => void (line.startsWith('rank ') && lines.push(String(rank)))
      const one = new TorchEngine({ python: python.path, device: 'cpu', samplers, log }, 'tests.fake')
      open.push(one)
      one.begin(what)
      if (what === 'train') await one.openTrain({ path: 'x' }, call())
      await vi.waitFor(() => expect(lines).toHaveLength((samplers?.length ?? 0) + (what === 'train' ? 1 : 0)), 30_000)
      return lines.toSorted()
    }
    expect(await started('train')).toEqual(['0'])
    expect(await started('train', [[1]])).toEqual(['0', '1'])
    // the numbers of a trainer that is not started come first
    expect(await started('sample', [[0], [1]])).toEqual(['1', '2'])
  }, 60_000)

  it('says what kept it from beginning when a model is opened', async () => {
    const one = new TorchEngine({ python: '/no/such/python', device: 'cpu' })
    open.push(one)
    one.begin('train')
    await expect(one.openTrain({ path: 'x' }, call())).rejects.toMatchObject({ code: 'engine/python' })
  }, 60_000)

  it('says which Python it looked for', async () => {
    vi.stubEnv('TRINITY_PYTHON', join(dir, 'gone'))
    await expect(torchPython()).rejects.toMatchObject({
      code: 'engine/python',
      message: expect.stringContaining('TRINITY_PYTHON'),
      hint: expect.stringContaining('trinity setup torch'),
    })
    vi.stubEnv('TRINITY_PYTHON', python.path)
    expect(await torchPython()).toBe(python.path)
  })

  it('does not ask for more devices than there are', async () => {
    vi.stubEnv('CUDA_VISIBLE_DEVICES', '')
    const many = new TorchEngine({ python: python.path, device: 'cuda', devices: 2 })
    await expect(many.openScore({ path: 'x' }, call())).rejects.toMatchObject({ code: 'engine/devices' })
  })
})

describe.skipIf(python.absent)(`the torch engine over real models${python.note}`, () => {
  const engine = new TorchEngine({ python: python.path, device: 'cpu' })
  afterAll(() => engine.close())

  it('takes batches in which nothing is scored', async () => {
    const model = await engine.openTrain({ path: fixture('tiny-qwen2') }, call())
    expect(await model.forward({ rows: [], tokenBudget: 8 }, want, call())).toEqual([])
    const none = row('none', 4, { start: 4, mask: new Uint8Array(0) })
    expect(await model.forward({ rows: [none], tokenBudget: 8 }, want, call())).toEqual([
      { id: 'none', logprob: new Float32Array(0) },
    ])
    const some = { rows: [none, row('a', 3)], tokenBudget: 4 }
    const { scores, loss: value } = await model.forwardBackward(some, loss, call())
    expect(scores.map(({ logprob }) => logprob!.length)).toEqual([0, 2])
    expect(value).toBeGreaterThan(0)
    expect((await model.forwardBackward({ rows: [none], tokenBudget: 4 }, loss, call())).loss).toBe(0)
    await model.close()
  }, 60_000)

  it('gives rewards of sequences, the same alone and together', async () => {
    const path = join(dir, 'judge')
    await createModel({
      out: path,
      head: 'sequence',
      layers: 2,
      hidden: 32,
      heads: 2,
      maxPositions: 32,
      tokenizer: { kind: 'bytes' },
    })
    const model = await engine.openReward({ path }, call())
    const rows = [Int32Array.of(3, 1, 4), Int32Array.of(1, 5, 9, 2, 6), Int32Array.of(5)]
    const together = await model.reward(rows, call())
    const alone = await Promise.all(rows.map(async (one) => (await model.reward([one], call()))[0]))
    for (const [i, value] of alone.entries()) expect(together[i]).toBeCloseTo(value, 5)
    expect(new Set(together).size).toBe(3)
    expect(await model.reward([], call())).toHaveLength(0)
    await expect(model.reward([new Int32Array(0)], call())).rejects.toMatchObject({ code: 'engine/bad-row' })
    await expect(model.reward([Int32Array.of(99_999)], call())).rejects.toMatchObject({ code: 'engine/bad-row' })
  }, 60_000)

  it('refuses folders that hold no model, and heads that do not fit', async () => {
    await expect(engine.openTrain({ path: join(dir, 'empty') }, call())).rejects.toMatchObject({
      code: 'model/missing',
    })
    expect(() => engine.openTrain({ path: 'x', head: 'reward' }, call())).toThrowError(/cannot be opened this way/)
  }, 60_000)
})
