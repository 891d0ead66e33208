import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { call, essence, request, tiny } from '../../../../test/support/native-sampler.js'
import { fixture } from '../../../../test/support/test-data.js'
import { defineLoss } from '../../../graph/index.js'
import { createModel } from '../../../model/create.js'
import { directLink } from '../../../testing/direct-link.js'
import type { Row, SampleModel, SampleSpec, SamplingParams, TrainModel } from '../../contract.js'
import { NativeEngine } from '../engine.js'

const loss = defineLoss((g) => g.logprob.neg().total())
const PROMPT = Array.from({ length: 40 }, (_, i) => (i * 7 + 3) % 80)

describe('the native sampler', () => {
  let engine = new NativeEngine()
  /** Long answers: something can happen while they are given. */
  let roomy: string
  beforeAll(async () => {
    roomy = await mkdtemp(join(tmpdir(), 'trinity-sampler-'))
    await createModel({ out: roomy, hidden: 64, layers: 2, maxPositions: 4096, seed: 3, force: true })
  })
  afterAll(() => rm(roomy, { recursive: true, force: true }))
  afterEach(async () => {
    await engine.close()
    engine = new NativeEngine()
  })
  const open = (spec: Partial<SampleSpec> = {}) => engine.openSample({ path: tiny, seed: 1, ...spec }, call())
  const learn = async (model: TrainModel, lr = 0.02) => {
    const tokens = Int32Array.from(PROMPT)
    const rows: Row[] = [{ id: 'a', tokens, start: 1, mask: new Uint8Array(39).fill(1), temperature: 1, columns: {} }]
    await model.forwardBackward({ rows, tokenBudget: 99 }, loss, call())
    await model.optimStep({ lr, betas: [0.9, 0.999], eps: 1e-8, weightDecay: 0, gradClip: 0 }, call())
  }
  /** Resolves at the given token of a request. */
  const during = (model: SampleModel, tokens: number, params: Partial<SamplingParams> = {}) => {
    let reach = () => {}
    const reached = new Promise<void>((resolve) => {
      reach = resolve
    })
    let seen = 0
    const done = model.sample(request(PROMPT, { maxTokens: 1500, seed: 3, ...params }), call(), () => {
      if (++seen === tokens) reach()
    })
    return { done, reached }
  }

  it('does not compute a known beginning again, and says so', async () => {
    const model = await open()
    const [first] = await model.sample(request(PROMPT, { seed: 1, maxTokens: 40 }), call())
    expect(first.cachedTokens).toBe(0)
    const conversation = [...PROMPT, ...first.tokens, 9, 9]
    const [second] = await model.sample(request(conversation, { seed: 1 }), call())
    // 82 tokens: two whole pages of 32.
    expect(second.cachedTokens).toBe(64)
    const fresh = await open({ prefixCaching: false })
    const [same] = await fresh.sample(request(conversation, { seed: 1 }), call())
    expect(same.cachedTokens).toBe(0)
    expect(essence([second])).toEqual(essence([same]))
    expect(model.stats()).toMatchObject({ promptTokens: 40 + 82, cachedTokens: 64, sampledTokens: 40 + 12 })
    // The last token is always computed, also when all of it is known.
    const [whole] = await model.sample(request(conversation.slice(0, 64), { maxTokens: 1 }), call())
    expect(whole.cachedTokens).toBe(32)
  })

  it('shares the weights of a trainer until they are handed over, and keeps its own meanwhile', async () => {
    const trained = await engine.openTrain({ path: tiny }, call())
    const model = await open({ shareWith: trained })
    expect(model.memory().weights).toBe(0)
    expect(model.version).toBe(-1)
    const ask = async () => essence(await model.sample(request(PROMPT, { seed: 5 }), call()))
    const before = await ask()
    await learn(trained)
    expect(await ask()).toEqual(before)
    const link = directLink(engine, trained, [model])
    const { checksum, ms } = await link.transfer(1, 'finish', call())
    expect(ms).toBeGreaterThan(0)
    const after = await ask()
    expect(after).not.toEqual(before)
    // A known beginning was computed with the old weights: it must not be found.
    const fresh = await open({ shareWith: trained })
    expect(essence(await fresh.sample(request(PROMPT, { seed: 5 }), call()))).toEqual(after)
    await learn(trained)
    expect((await link.transfer(2, 'finish', call())).checksum).not.toBe(checksum)
  })

  it('finishes, continues or aborts what is in flight when weights change', async () => {
    const trained = await engine.openTrain({ path: roomy }, call())
    const model = await open({ path: roomy, maxBatch: 1 })
    const link = directLink(engine, trained, [model])
    await link.transfer(1, 'finish', call())
    await learn(trained)

    const finished = during(model, 5)
    const queued = model.sample(request(PROMPT, { seed: 8 }), call())
    await finished.reached
    await link.transfer(2, 'finish', call())
    expect((await finished.done)[0].versions).toEqual([{ version: 1, from: 0 }])
    // It had not begun: the new weights are its own.
    expect((await queued)[0].versions).toEqual([{ version: 2, from: 0 }])

    await learn(trained)
    const continued = during(model, 5)
    await continued.reached
    await link.transfer(3, 'continue', call())
    const [sample] = await continued.done
    expect(sample.versions.map((span) => span.version)).toEqual([2, 3])
    const { from } = sample.versions[1]
    expect(from).toBeGreaterThanOrEqual(5)
    // The later tokens have the log-probs that the new weights give them, after everything before.
    const tokens = Int32Array.from([...PROMPT, ...sample.tokens])
    const mask = new Uint8Array(1500).fill(1)
    const row: Row = { id: 'a', tokens, start: 40, mask, temperature: 1, columns: {} }
    const [{ logprob }] = await trained.forward({ rows: [row], tokenBudget: 9999 }, { scores: ['logprob'] }, call())
    expect([...sample.logprobs.slice(from)]).toEqual([...logprob!.slice(from)])

    const aborted = during(model, 5)
    await aborted.reached
    await link.transfer(4, 'abort', call())
    const [cut] = await aborted.done
    expect(cut.finish).toBe('abort')
    expect(cut.tokens.length).toBeGreaterThanOrEqual(5)
    expect(model.version).toBe(4)
  })

  it('changes all samplers of a link or none', async () => {
    const trained = await engine.openTrain({ path: roomy }, call())
    const [busy, idle] = [await open({ path: roomy }), await open({ path: roomy })]
    const other = await engine.openSample({ path: fixture('tiny-qwen2') }, call())
    await learn(trained)
    const long = during(busy, 2)
    await long.reached
    const late = directLink(engine, trained, [busy, idle]).transfer(1, 'finish', call(undefined, 1))
    await expect(late).rejects.toMatchObject({ code: 'engine/deadline' })
    expect([busy.version, idle.version]).toEqual([-1, -1])
    await expect(directLink(engine, trained, [idle, other]).transfer(1, 'finish', call())).rejects.toMatchObject({
      code: 'engine/other-model',
    })
    expect(idle.version).toBe(-1)
    expect((await long.done)[0].finish).toBe('length')
    await Promise.all(
      [1, 2, 3].map((version) => directLink(engine, trained, [busy, idle]).transfer(version, 'continue', call())),
    )
    expect(new Set([busy.version, idle.version]).size).toBe(1)
    expect((await busy.sample(request(PROMPT), call()))[0].finish).toBe('length')
  })

  it('saves the weights it has, an adapter merged in', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'trinity-sampler-'))
    const lora = { rank: 2, alpha: 4, targetModules: 'all-linear' } as const
    const trained = await engine.openTrain({ path: tiny, lora }, call())
    for (let i = 0; i < 3; i++) await learn(trained)
    const model = await open({ shareWith: trained })
    await model.saveWeights(join(dir, 'w'), call())
    const copy = await open()
    await copy.loadWeights(join(dir, 'w'), 7, 'finish', call())
    expect(copy.version).toBe(7)
    const ask = (from: SampleModel) => from.sample(request(PROMPT, { temperature: 0 }), call())
    const [[a], [b]] = [await ask(model), await ask(copy)]
    expect(b.tokens).toEqual(a.tokens)
    for (const [i, logprob] of a.logprobs.entries()) expect(b.logprobs[i]).toBeCloseTo(logprob, 4)
    expect((await ask(await open()))[0].logprobs).not.toEqual(a.logprobs)
    await rm(dir, { recursive: true })
  })

  it('keeps its bounds: a queue, pages for thousands of requests', async () => {
    const model = await open({ maxBatch: 2, maxQueue: 3, cacheTokens: 160 })
    const sent = Array.from({ length: 8 }, (_, i) => model.sample(request(PROMPT, { seed: i }), call()))
    const settled = await Promise.allSettled(sent)
    const refused = settled.filter((one) => one.status === 'rejected')
    expect(refused).toHaveLength(3)
    for (const { reason } of refused) expect(reason).toMatchObject({ code: 'engine/busy' })
    for (let round = 0; round < 400; round++) {
      const control = new AbortController()
      if (round % 7 === 0) setTimeout(() => control.abort(), round % 3)
      const length = 1 + ((round * 13) % 70)
      const ask = request(
        PROMPT.concat(PROMPT).slice(0, length),
        { maxTokens: 1 + (round % 9) },
        { n: 1 + (round % 5) },
      )
      await Promise.all([model.sample(ask, call(control.signal)), model.sample(ask, call())])
    }
    expect(model.stats()).toMatchObject({ running: 0, waiting: 0, cacheTokensUsed: 0 })
    const { cache } = model.memory()
    await model.sample(request(PROMPT), call())
    expect(model.memory().cache).toBe(cache)
  })

  it('answers what is open when it closes, and nothing after', async () => {
    const model = await open({ path: roomy, maxBatch: 1 })
    const running = during(model, 3)
    const waiting = model.sample(request(PROMPT), call())
    await running.reached
    await model.close()
    expect((await running.done)[0].finish).toBe('abort')
    expect((await waiting)[0]).toMatchObject({ finish: 'abort', tokens: new Int32Array(0), versions: [] })
    await expect(model.sample(request(PROMPT), call())).rejects.toMatchObject({ code: 'engine/closed' })
    await model.close()
  })

  it('keeps deadlines and signals', async () => {
    const model = await open({ path: roomy })
    const slow = model.sample(request([1], { maxTokens: 4000 }, { n: 9 }), call(undefined, 1))
    await expect(slow).rejects.toMatchObject({ code: 'engine/deadline' })
    const early = await model.sample(request(PROMPT, {}, { n: 2 }), call(AbortSignal.abort()))
    expect(early.map((sample) => [sample.finish, sample.tokens.length])).toEqual(new Array(2).fill(['abort', 0]))
    const broken = model.sample(request(PROMPT), call(), () => {
      throw new Error('listener')
    })
    await expect(broken).rejects.toThrow('listener')
    expect((await model.sample(request(PROMPT), call()))[0].finish).toBe('length')
    expect(model.stats().cacheTokensUsed).toBe(0)
  })

  it('refuses what makes no sense, and lives on', async () => {
    const model = await open({ cacheTokens: 96 })
    const bad = async (params: Partial<SamplingParams>, more: object = {}) =>
      expect(model.sample(request(PROMPT, params, more), call())).rejects.toMatchObject({ code: 'engine/bad-request' })
    for (const params of [
      { temperature: -1 },
      { temperature: Number.NaN },
      { temperature: 1e-9 },
      { topP: 0 },
      { topP: 1.1 },
      { minP: -0.1 },
      { topK: 1.5 },
      { repetitionPenalty: 0 },
      { presencePenalty: 2.1 },
      { frequencyPenalty: Number.NaN },
      { maxTokens: 0 },
      { maxTokens: 80 },
      { minTokens: 13 },
      { stop: [''] },
      { stopTokenIds: [87] },
      { seed: 0.5 },
    ])
      await bad(params)
    const biases: Record<number, number>[] = [{ 87: 1 }, { 5: 101 }, { 1.5: 1 }]
    for (const logitBias of biases) await bad({ logitBias })
    for (const more of [
      { n: 0 },
      { topLogprobs: 88 },
      { prompt: new Int32Array(0) },
      { prompt: Int32Array.of(-1) },
      { prompt: Int32Array.of(87) },
      { prompt: new Int32Array(128) },
    ])
      await bad({}, more)
    await expect(open({ cacheTokens: 3 })).rejects.toMatchObject({ code: 'engine/bad-spec' })
    await expect(open({ maxModelLen: 129 })).rejects.toMatchObject({ code: 'engine/max-model-len' })
    await expect(open({ maxBatch: 0 })).rejects.toMatchObject({ code: 'engine/bad-spec' })
    expect((await model.sample(request(PROMPT), call()))[0].tokens).toHaveLength(12)
  })

  it('says so when the weights have diverged', async () => {
    const trained = await engine.openTrain({ path: tiny }, call())
    await learn(trained, 1e30)
    const model = await open({ shareWith: trained })
    await expect(model.sample(request(PROMPT), call())).rejects.toMatchObject({ code: 'engine/not-finite' })
    expect(model.stats().cacheTokensUsed).toBe(0)
  })

  it('scores prompts, with the same numbers as score', async () => {
    const model = await open()
    const params = { temperature: 0.8, maxTokens: 2 }
    const [sample] = await model.sample(request(PROMPT, params, { promptLogprobs: true }), call())
    const mask = new Uint8Array(39).fill(1)
    const row: Row = { id: 'a', tokens: Int32Array.from(PROMPT), start: 1, mask, temperature: 0.8, columns: {} }
    const [{ logprob }] = await model.score([row], call())
    expect(sample.promptLogprobs![0]).toBeNaN()
    expect([...sample.promptLogprobs!.slice(1)]).toEqual([...logprob!])
    const { tokens, logprobs } = (await model.sample(request(PROMPT, params, { topLogprobs: 4 }), call()))[0]
      .topLogprobs![0]
    expect(tokens).toHaveLength(4)
    expect([...logprobs]).toEqual([...logprobs].sort((a, b) => b - a))
  })

  it('never blocks the event loop', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'trinity-sampler-'))
    await createModel({ out: join(dir, 'big'), hidden: 256, layers: 6, heads: 4, seed: 3 })
    const model = await engine.openSample({ path: join(dir, 'big') }, call())
    let ticks = 0
    const timer = setInterval(() => ticks++, 1)
    const started = performance.now()
    const prompt = new Array(400).fill(5)
    await Promise.all([0, 1].map((seed) => model.sample(request(prompt, { seed, maxTokens: 20 }), call())))
    const took = performance.now() - started
    clearInterval(timer)
    // A blocked loop would give one tick; a busy machine may lose many of them.
    expect(ticks).toBeGreaterThan(Math.min(5, took / 20))
    await rm(dir, { recursive: true })
  })
})
