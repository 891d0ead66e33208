import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineLoss } from '../../graph/define.js'
import { nextCall } from '../calls.js'
import type { AdamStep, Loss, Row } from '../contract.js'
import { MockTrainModel } from '../mock/train.js'
import { TinkerEngine } from './engine.js'
import { type FakeOptions, FakeService, type Trouble, VOCAB } from './service.fixture.js'

/** With a large eps, so that a gradient that is nearly 0 is not blown up. */
const STEP: AdamStep = { lr: 0.5, betas: [0.9, 0.99], eps: 1, weightDecay: 0.01, gradClip: 0 }
const WANT = { scores: ['logprob'] } as const
const adapter = { baseModel: 'bigram', rank: 4, mlp: true, attention: true, unembed: true }
let path: string

beforeAll(async () => {
  path = await mkdtemp(join(tmpdir(), 'trinity-tinker-'))
  const config = { model_type: 'llama', architectures: ['LlamaForCausalLM'], vocab_size: VOCAB, hidden_size: 8 }
  const shape = { num_hidden_layers: 1, num_attention_heads: 1, intermediate_size: 8, max_position_embeddings: 64 }
  await writeFile(join(path, 'config.json'), JSON.stringify({ ...config, ...shape, rms_norm_eps: 1e-5 }))
  await writeFile(join(path, 'tokenizer.json'), '{}')
})
afterAll(() => rm(path, { recursive: true, force: true }))

async function open(options: FakeOptions = {}) {
  const service = await new FakeService(options).listen()
  const engine = new TinkerEngine({ baseUrl: service.url, adapter, trust: options.means !== true })
  const close = async () => {
    await engine.close()
    await service.close()
  }
  return { service, engine, close }
}

/** A model at the service, and the same model here. */
async function pair(engine: TinkerEngine, service: FakeService) {
  const model = await engine.openTrain({ path }, nextCall())
  const own = new MockTrainModel(model.info, 'own')
  own.bigram.weights.set(service.newest.weights)
  return { model, own }
}

/** Reads a ratio, a mean over the row and the whole batch: nothing that a loss of a service could say. */
const curved = defineLoss((g) => {
  const tokens = g.norm('tokens', (rows) => rows.reduce((n, { mask }) => n + mask.reduce((a, b) => a + b, 0), 1))
  const ratio = g.logprob.sub(g.column('old')).exp()
  const clipped = ratio.clamp(0.8, 1.2)
  g.metric('ratio', ratio)
  const surrogate = ratio.mul(g.column('advantage')).min(clipped.mul(g.column('advantage')))
  return surrogate.neg().total().div(tokens).add(g.logprob.rowMean().square().total())
})
/** Its derivative reads no score: one call is enough. */
const linear = defineLoss((g) => g.column('advantage').mul(g.logprob).neg().total())
/** Learns from the log-probs of other tokens, too. */
const others = defineLoss((g) => g.logprobAt('other').sub(g.logprob).sigmoid().total())

const someRows = fc
  .array(
    fc.record({
      tokens: fc.array(fc.nat(VOCAB - 1), { minLength: 2, maxLength: 9 }),
      start: fc.nat(6),
      seed: fc.nat(99),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((all) => all.map(({ tokens, start, seed }, i) => rowOf(tokens, Math.min(1 + start, tokens.length), seed, i)))

function rowOf(tokens: readonly number[], start: number, seed: number, i: number): Row {
  const mask = Uint8Array.from({ length: tokens.length - start }, (_, j) => ((seed + j) % 4 === 0 ? 0 : 1))
  const column = (f: (j: number) => number) => Float32Array.from(mask, (_, j) => f(j))
  const columns = {
    advantage: column((j) => Math.sin(seed + j)),
    old: column((j) => -2.5 + 0.2 * Math.cos(seed * j)),
    other: column((j) => (seed + 3 * j) % VOCAB),
  }
  return { id: `${i}`, tokens: Int32Array.from(tokens), start, mask, temperature: 1, columns }
}

describe('a model at a service learns as one here', () => {
  it.each([
    ['curved, sums', curved, {}],
    ['curved, means', curved, { means: true }],
    ['linear, sums', linear, {}],
    ['linear, means', linear, { means: true }],
    ['other tokens, sums', others, {}],
    ['other tokens, means', others, { means: true }],
  ] as [string, Loss, FakeOptions][])('from any batch: %s', async (_, loss, options) => {
    const { service, engine, close } = await open(options)
    await fc.assert(
      fc.asyncProperty(someRows, async (rows) => {
        const { model, own } = await pair(engine, service)
        const batch = { rows, tokenBudget: 64 }
        for (let step = 0; step < 2; step++) {
          const there = await model.forwardBackward(batch, loss, nextCall())
          const here = await own.forwardBackward(batch, loss, nextCall())
          expect(there.loss).toBeCloseTo(here.loss, 4)
          expect(there.scores.map(({ id }) => id)).toEqual(here.scores.map(({ id }) => id))
          expect(Object.keys(there.metrics)).toEqual(Object.keys(here.metrics))
          const [a, b] = [await model.optimStep(STEP, nextCall()), await own.optimStep(STEP, nextCall())]
          expect(a.applied).toBe(true)
          expect(a.gradNorm).toBeCloseTo(b.gradNorm, 4)
        }
        const learned = service.newest.weights
        for (const [i, x] of learned.entries()) expect(x).toBeCloseTo(own.bigram.weights[i], 4)
        await model.close()
      }),
      { numRuns: 8 },
    )
    await close()
  })

  it('in one pass where the derivative is known before, else in two', async () => {
    const { service, engine, close } = await open()
    const { model } = await pair(engine, service)
    const passes = async (loss: Loss) => {
      service.seen.length = 0
      await model.forwardBackward({ rows: ROWS, tokenBudget: 64 }, loss, nextCall())
      await model.optimStep(STEP, nextCall())
      return service.seen.filter((route) => route === 'forward_backward').length
    }
    expect([await passes(linear), await passes(curved)]).toEqual([1, 2])
    await close()
  })
})

const ROWS = [rowOf([3, 7, 5, 9, 1], 1, 5, 0), rowOf([2, 4, 4, 8], 2, 9, 1), rowOf([6, 0, 11, 3, 3, 2], 1, 40, 2)]
const batch = { rows: ROWS, tokenBudget: 64 }

describe('whatever happens on the way', () => {
  const troubles: [string, string, Trouble[]][] = [
    ['a lost answer to a pass', 'forward_backward', ['lose', 'lose']],
    ['a lost answer to a step', 'optim_step', ['lose']],
    ['a lost result', 'retrieve_future', ['lose', 'lose']],
    ['results that take long', 'retrieve_future', ['again', 408, 'again']],
    ['a service that stumbles', 'retrieve_future', [503, 400]],
    ['requests that are forgotten', 'retrieve_future', [410, 410]],
    ['a name that is taken', 'save_weights_for_sampler', [409]],
  ]
  it.each(troubles)(
    '%s: everything is done once',
    async (_, route, list) => {
      const { service, engine, close } = await open()
      const { model, own } = await pair(engine, service)
      const sampler = await engine.openSample({ path, shareWith: model }, nextCall())
      service.troubles.set(route, [...list])
      await model.forwardBackward(batch, curved, nextCall())
      await model.optimStep(STEP, nextCall())
      await model.handOver([sampler], 1, 'finish', nextCall())
      await own.forwardBackward(batch, curved, nextCall())
      await own.optimStep(STEP, nextCall())
      for (const [i, x] of service.newest.weights.entries()) expect(x).toBeCloseTo(own.bigram.weights[i], 5)
      expect(service.troubles.get(route)).toEqual([])
      expect(sampler.version).toBe(1)
      await close()
    },
    20_000,
  )

  it('a repeated call gets the first answer', async () => {
    const { service, engine, close } = await open()
    const { model } = await pair(engine, service)
    for (const loss of [curved, linear]) {
      const call = nextCall()
      const first = await model.forwardBackward(batch, loss, call)
      expect(await model.forwardBackward(batch, loss, call)).toBe(first)
      const step = nextCall()
      const { gradNorm } = await model.optimStep(STEP, step)
      const steps = service.seen.filter((route) => route === 'optim_step').length
      expect((await model.optimStep(STEP, step)).gradNorm).toBe(gradNorm)
      expect(service.seen.filter((route) => route === 'optim_step')).toHaveLength(steps)
    }
    await close()
  })

  const hostile: [string, Trouble, string][] = [
    ['another form', { json: { hello: 1 } }, 'tinker/answer'],
    ['bytes that mean nothing', { bytes: Uint8Array.of(255, 255, 1) }, 'tinker/answer'],
    ['log-probs of too few rows', { bytes: new Uint8Array(0) }, 'tinker/answer'],
    ['a failure in words', { json: { error: 'out of memory', category: 'server' } }, 'tinker/failed'],
    ['no entry', 401, 'tinker/unauthorized'],
  ]
  it.each(hostile)('%s is one clear error, and the model lives on', async (_, trouble, code) => {
    const { service, engine, close } = await open()
    const { model } = await pair(engine, service)
    const before = await model.forward(batch, WANT, nextCall())
    service.troubles.set('retrieve_future', [trouble])
    await expect(model.forwardBackward(batch, curved, nextCall())).rejects.toMatchObject({ code })
    expect(await model.forward(batch, WANT, nextCall())).toEqual(before)
    await close()
  })

  it('a step whose end is not known is not built upon', async () => {
    const { service, engine, close } = await open()
    const { model } = await pair(engine, service)
    await model.save(join(path, 'before'), nextCall())
    await model.forwardBackward(batch, curved, nextCall())
    // the pass is answered, the step is not
    service.troubles.set('retrieve_future', [{ json: { error: 'gone' } }])
    await expect(model.optimStep(STEP, nextCall())).rejects.toMatchObject({ code: 'tinker/failed' })
    await expect(model.save(join(path, 'after'), nextCall())).rejects.toMatchObject({ code: 'engine/torn-model' })
    await model.load(join(path, 'before'), nextCall())
    expect((await model.forwardBackward(batch, curved, nextCall())).loss).toBeLessThan(Infinity)
    await close()
  })
})

describe('a gradient', () => {
  it('that is no number never leaves', async () => {
    const { service, engine, close } = await open()
    const { model } = await pair(engine, service)
    const before = service.newest.weights.slice()
    const rows = ROWS.map((row) => ({ ...row, columns: { ...row.columns, advantage: Infinity } }))
    for (const loss of [linear, curved]) {
      await model.forwardBackward({ rows, tokenBudget: 64 }, loss, nextCall())
      expect(await model.optimStep(STEP, nextCall())).toMatchObject({ applied: false })
    }
    expect(service.newest.weights).toEqual(before)
    expect(service.seen).not.toContain('optim_step')
    await close()
  })

  it.each([
    ['here', curved],
    ['at the service', linear],
  ])('that lies %s is discarded, and nothing else with it', async (_, loss) => {
    const { service, engine, close } = await open()
    const { model, own } = await pair(engine, service)
    for (const one of [model, own]) {
      await one.forwardBackward(batch, curved, nextCall())
      await one.optimStep(STEP, nextCall())
    }
    await model.forwardBackward(batch, loss, nextCall())
    await model.discardGrad(nextCall())
    // moments and number of steps are as they were
    for (const one of [model, own]) {
      await one.forwardBackward(batch, curved, nextCall())
      await one.optimStep(STEP, nextCall())
    }
    for (const [i, x] of service.newest.weights.entries()) expect(x).toBeCloseTo(own.bigram.weights[i], 5)
    await close()
  })
})

describe('a checkpoint', () => {
  it('names the state at the service, and a run goes on from it exactly', async () => {
    const { service, engine, close } = await open()
    const { model } = await pair(engine, service)
    const learn = async (one: typeof model) => {
      await one.forwardBackward(batch, curved, nextCall())
      await one.optimStep(STEP, nextCall())
    }
    await learn(model)
    await model.save(join(path, 'state'), nextCall())
    await learn(model)
    const expected = await model.forward(batch, WANT, nextCall())
    const other = await engine.openTrain({ path }, nextCall())
    await other.load(join(path, 'state'), nextCall())
    await learn(other)
    expect(await other.forward(batch, WANT, nextCall())).toEqual(expected)
    await close()
  })

  it('of another model or engine is refused', async () => {
    const { service, engine, close } = await open()
    const { model } = await pair(engine, service)
    await model.save(join(path, 'rank4'), nextCall())
    const wide = new TinkerEngine({ baseUrl: service.url, adapter: { ...adapter, rank: 8 }, trust: true })
    const other = await wide.openTrain({ path }, nextCall())
    const bad = { code: 'engine/bad-checkpoint' }
    await expect(other.load(join(path, 'rank4'), nextCall())).rejects.toMatchObject(bad)
    await expect(other.load(path, nextCall())).rejects.toMatchObject(bad)
    await wide.close()
    await close()
  })
})

describe('what a service has no word for is refused by name', () => {
  it('in rows and losses', async () => {
    const { service, engine, close } = await open()
    const { model } = await pair(engine, service)
    const warm = { rows: [{ ...ROWS[0], temperature: 0.7 }], tokenBudget: 64 }
    await expect(model.forward(warm, WANT, nextCall())).rejects.toMatchObject({ path: 'model.temperature' })
    const bonus = defineLoss((g) => g.entropy.neg().total())
    await expect(model.forwardBackward(batch, bonus, nextCall())).rejects.toMatchObject({
      code: 'engine/unsupported',
      path: 'algorithm.entropy_loss_fn_args.entropy_coef',
    })
    // as a metric it is estimated from the tokens that were drawn
    const told = defineLoss((g) => {
      g.metric('entropy', g.entropy)
      return g.logprob.total()
    })
    const { scores } = await model.forwardBackward(batch, told, nextCall())
    expect(scores[0].entropy).toEqual(scores[0].logprob!.map((x) => -x))
    await close()
  })

  it('in models', async () => {
    const { service, engine, close } = await open()
    await expect(engine.openTrain({ path, head: 'value' }, nextCall())).rejects.toThrowError(/not critics/)
    await expect(engine.openReward({ path })).rejects.toThrowError(/no reward models/)
    const other = new TinkerEngine({ baseUrl: service.url, adapter: { ...adapter, baseModel: 'bigrm' } })
    await expect(other.openScore({ path }, nextCall())).rejects.toMatchObject({
      code: 'tinker/unknown-model',
      hint: expect.stringContaining("did you mean 'bigram'"),
    })
    await close()
  })
})
