import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type {
  AdamStep,
  Call,
  Engine,
  Row,
  SampleModel,
  SampleRequest,
  SamplingParams,
  TrainModel,
} from '../engine/contract.js'
import { defineLoss } from '../graph/index.js'
import { directLink } from './direct-link.js'
import type { TestRunner } from './runner.js'

/**
 * What every engine must do, whatever it is made of. Each engine's own test file calls this with itself. `sample: false`:
 * the engine says that it does not sample, and is held to that.
 * @example
 * import { describeEngine, MockEngine } from 'trinity-rft/testing'
 * import * as vitest from 'vitest'
 *
 * describeEngine(vitest, 'mine', async () => ({ engine: new MockEngine(), path: 'a model directory' }))
 */
export function describeEngine(
  { describe, it, beforeAll, afterAll, expect }: TestRunner,
  name: string,
  open: () => Promise<{ engine: Engine; path: string }>,
  { sample = true }: { sample?: boolean } = {},
): void {
  describe(`${name}: the engine contract`, () => {
    let engine: Engine
    let path: string
    let dir: string
    let seq = 0
    const call = (signal?: AbortSignal): Call => ({ seq: ++seq, deadlineMs: 60_000, signal })
    const train = () => engine.openTrain({ path, seed: 1 }, call())
    const sampler = (from?: TrainModel) => engine.openSample({ path, shareWith: from, seed: 1 }, call())

    function closeTo(actual: Float32Array, expected: Float32Array, tolerance: number): void {
      expect(actual).toHaveLength(expected.length)
      for (let i = 0; i < expected.length; i++) expect(Math.abs(actual[i] - expected[i])).toBeLessThanOrEqual(tolerance)
    }

    beforeAll(async () => {
      ;({ engine, path } = await open())
      dir = await mkdtemp(join(tmpdir(), 'trinity-engine-'))
    })
    afterAll(async () => {
      await engine.close()
      await rm(dir, { recursive: true, force: true })
    })

    it('gives the same loss, metrics and step for any split into micro-batches', async () => {
      const rows = someRows(7)
      const results = []
      for (const tokenBudget of [1, 20, 10_000]) {
        const model = await train()
        const result = await model.forwardBackward({ rows, tokenBudget }, policyGradient, call())
        const step = await model.optimStep(STEP, call())
        const after = await model.forward({ rows, tokenBudget: 10_000 }, { scores: ['logprob'] }, call())
        results.push({ result, step, after })
        await model.close()
      }
      const [one, ...others] = results
      expect(one.result.scores.map((s) => s.id)).toEqual(rows.map((r) => r.id))
      for (const other of others) {
        expect(other.result.loss).toBeCloseTo(one.result.loss, 5)
        expect(other.step.gradNorm).toBeCloseTo(one.step.gradNorm, 4)
        expect(other.result.metrics.mean_logprob.value).toBeCloseTo(one.result.metrics.mean_logprob.value, 5)
        for (let i = 0; i < rows.length; i++) closeTo(other.after[i].logprob!, one.after[i].logprob!, 1e-4)
      }
    })

    it('evaluates what looks at all tokens or at groups of rows on the whole batch, whatever the split', async () => {
      const rows = someRows(7).map((row, i) => ({ ...row, group: i < 5 ? `task ${i % 2}` : undefined }))
      const results = []
      for (const tokenBudget of [1, 20, 10_000]) {
        const model = await train()
        const { loss, metrics } = await model.forwardBackward({ rows, tokenBudget }, batchWide, call())
        results.push({ loss, held: metrics.held.value, ...(await model.optimStep(STEP, call())) })
        await model.close()
      }
      for (const { loss, held, gradNorm } of results) {
        expect(loss / results[0].loss).toBeCloseTo(1, 5)
        expect(held).toBeCloseTo(results[0].held, 5)
        expect(gradNorm / results[0].gradNorm).toBeCloseTo(1, 5)
      }
      expect(results[0].held).toBeGreaterThan(0)
    })

    it('learns: the loss falls along its gradient', async () => {
      const model = await train()
      const rows = someRows(5).map((row) => ({ ...row, columns: { advantage: 1 } }))
      const losses = []
      for (let i = 0; i < 8; i++) {
        losses.push((await model.forwardBackward({ rows, tokenBudget: 64 }, policyGradient, call())).loss)
        expect((await model.optimStep(STEP, call())).applied).toBe(true)
      }
      expect(losses.at(-1)!).toBeLessThan(losses[0] - 0.01)
      await model.close()
    })

    it('never adds a gradient twice for a repeated call', async () => {
      const rows = someRows(3)
      const norms = []
      for (const repeat of [1, 2]) {
        const model = await train()
        const same = call()
        for (let i = 0; i < repeat; i++) await model.forwardBackward({ rows, tokenBudget: 64 }, policyGradient, same)
        norms.push((await model.optimStep(STEP, call())).gradNorm)
        await model.close()
      }
      expect(norms[1]).toBe(norms[0])
    })

    it('does not apply a gradient that is not finite', async () => {
      const model = await train()
      const rows = someRows(2)
      const before = await model.forward({ rows, tokenBudget: 64 }, { scores: ['logprob'] }, call())
      const poisoned = rows.map((row) => ({ ...row, columns: { advantage: Infinity } }))
      await model.forwardBackward({ rows: poisoned, tokenBudget: 64 }, policyGradient, call())
      expect(await model.optimStep(STEP, call())).toMatchObject({ applied: false })
      const after = await model.forward({ rows, tokenBudget: 64 }, { scores: ['logprob'] }, call())
      expect(after).toEqual(before)
      await model.close()
    })

    it('forgets a gradient that is discarded', async () => {
      const model = await train()
      await model.forwardBackward({ rows: someRows(2), tokenBudget: 64 }, policyGradient, call())
      await model.discardGrad(call())
      expect((await model.optimStep({ ...STEP, weightDecay: 0 }, call())).gradNorm).toBe(0)
      await model.close()
    })

    it('resumes from a saved state exactly', async () => {
      const rows = someRows(4)
      const model = await train()
      const learn = async (to: TrainModel) => {
        await to.forwardBackward({ rows, tokenBudget: 64 }, policyGradient, call())
        await to.optimStep(STEP, call())
      }
      await learn(model)
      await model.save(join(dir, 'state'), call())
      await learn(model)
      const other = await train()
      await other.load(join(dir, 'state'), call())
      await learn(other)
      const want = { scores: ['logprob'] as const }
      const expected = await model.forward({ rows, tokenBudget: 64 }, want, call())
      expect(await other.forward({ rows, tokenBudget: 64 }, want, call())).toEqual(expected)
      await Promise.all([model.close(), other.close()])
    })

    it('refuses rows it cannot score, and lives on', async () => {
      const model = await train()
      const [good] = someRows(1)
      const bad = { ...good, tokens: good.tokens.map(() => 1_000_000) }
      const score = (row: Row) => model.forward({ rows: [row], tokenBudget: 64 }, { scores: ['logprob'] }, call())
      await expect(score(bad)).rejects.toMatchObject({ code: 'engine/bad-row' })
      expect((await score(good))[0].logprob).toHaveLength(good.mask.length)
      await model.close()
    })

    it('says what it can do', async () => {
      expect(engine.caps).toMatchObject({ train: true, sample, logprobs: 'model' })
      if (!sample) await expect((async () => sampler())()).rejects.toMatchObject({ code: 'engine/unsupported' })
    })

    if (!sample) return

    it('samples the same tokens for the same seed, whatever else is in the batch', async () => {
      const model = await sampler()
      const alone = await model.sample(request(11), call())
      const others = Array.from({ length: 6 }, (_, i) => model.sample(request(100 + i, 3), call()))
      const again = await model.sample(request(11), call())
      await Promise.all(others)
      expect(again.map((s) => [...s.tokens])).toEqual(alone.map((s) => [...s.tokens]))
      expect(new Set(alone.map((s) => s.tokens.join())).size).toBeGreaterThan(1)
      await model.close()
    })

    it('reports the log-probs that training computes for the same tokens', async () => {
      const trained = await train()
      const model = await sampler(trained)
      const samples = await model.sample({ ...request(5, 4), params: { ...PARAMS, seed: 5, temperature: 0.7 } }, call())
      const rows = samples.map((sample, i): Row => {
        const tokens = Int32Array.from([...PROMPT, ...sample.tokens])
        const mask = new Uint8Array(sample.tokens.length).fill(1)
        return { id: `${i}`, tokens, start: PROMPT.length, mask, temperature: 0.7, columns: {} }
      })
      const scores = await trained.forward({ rows, tokenBudget: 256 }, { scores: ['logprob'] }, call())
      for (const [i, sample] of samples.entries()) closeTo(sample.logprobs, scores[i].logprob!, 1e-5)
      await Promise.all([model.close(), trained.close()])
    })

    it('draws under bias, penalties and masks, and reports the log-probs of the model all the same', async () => {
      const trained = await train()
      const model = await sampler(trained)
      const draw = async (params: Partial<SamplingParams>, more: Partial<SampleRequest> = {}) => {
        const wish = { ...PARAMS, ignoreEos: true, seed: 8, ...params }
        return (await model.sample({ ...request(8), n: 1, ...more, params: wish }, call()))[0]
      }
      const [a, b] = [7, 8]
      const count = (tokens: Int32Array, token: number) => tokens.filter((one) => one === token).length
      const both = await draw({ logitBias: { [a]: 60, [b]: 60 }, frequencyPenalty: 2, temperature: 0 })
      // each is taken about as often: a token that is ahead by two lies four behind
      expect(count(both.tokens, a) + count(both.tokens, b)).toBe(12)
      expect(Math.abs(count(both.tokens, a) - count(both.tokens, b))).toBeLessThanOrEqual(2)
      const same = await draw({ logitBias: { [a]: 60, [b]: 60 }, presencePenalty: -2, frequencyPenalty: -2 })
      expect(new Set(same.tokens.slice(-6)).size).toBe(1)
      expect(count((await draw({ logitBias: { [a]: -100 }, maxTokens: 40 })).tokens, a)).toBe(0)
      const strong = await draw({ logitBias: { [a]: 100 }, repetitionPenalty: 1.1 })
      expect([...strong.tokens]).toEqual(new Array(12).fill(a))
      if (engine.caps.allowedTokens) {
        const mask = new Uint32Array(Math.ceil(model.info.vocabSize / 32))
        mask[0] = (1 << a) | (1 << b)
        const free = await draw({ maxTokens: 6 }, { allowed: (_, made) => (made.length < 4 ? mask : undefined) })
        expect(free.tokens.slice(0, 4).every((token) => token === a || token === b)).toBe(true)
      }
      for (const { tokens, logprobs, drawnLogprobs } of [both, same, strong]) {
        const mask = new Uint8Array(12).fill(1)
        const whole = Int32Array.from([...PROMPT, ...tokens])
        const row: Row = { id: 'a', tokens: whole, start: PROMPT.length, mask, temperature: 1, columns: {} }
        const [scores] = await trained.forward({ rows: [row], tokenBudget: 64 }, { scores: ['logprob'] }, call())
        closeTo(logprobs, scores.logprob!, 1e-5)
        // what bias made certain was drawn with certainty
        if (engine.caps.drawnLogprobs && drawnLogprobs) closeTo(drawnLogprobs.slice(-4), new Float32Array(4), 0.05)
      }
      for (const params of [{ presencePenalty: 3 }, { frequencyPenalty: Number.NaN }, { repetitionPenalty: -1 }])
        await expect(draw(params)).rejects.toMatchObject({ code: 'engine/bad-request' })
      for (const [id, bias] of [
        [-1, 1],
        [model.info.vocabSize, 1],
        [a, 101],
      ])
        await expect(draw({ logitBias: { [id]: bias } })).rejects.toMatchObject({ code: 'engine/bad-request' })
      await Promise.all([model.close(), trained.close()])
    })

    it('streams what it returns, and returns what it had when aborted', async () => {
      const model = await sampler()
      const seen: number[] = []
      const control = new AbortController()
      const long: SampleRequest = { ...request(3, 1), params: { ...PARAMS, maxTokens: 40, ignoreEos: true, seed: 3 } }
      const [sample] = await model.sample(long, call(control.signal), (_, token) => {
        seen.push(token)
        if (seen.length === 5) control.abort()
      })
      expect(sample.finish).toBe('abort')
      expect(sample.tokens.length).toBeGreaterThanOrEqual(5)
      expect(sample.tokens.length).toBeLessThan(40)
      expect(seen).toEqual([...sample.tokens])
      await model.close()
    })

    it('carries trained weights to samplers under a version', async () => {
      const trained = await train()
      const model: SampleModel = await sampler()
      const rows = someRows(4).map((row) => ({ ...row, columns: { advantage: 1 } }))
      for (let i = 0; i < 3; i++) {
        await trained.forwardBackward({ rows, tokenBudget: 64 }, policyGradient, call())
        await trained.optimStep(STEP, call())
      }
      const link = directLink(engine, trained, [model])
      const { checksum } = await link.transfer(3, 'finish', call())
      expect(model.version).toBe(3)
      expect((await link.transfer(4, 'finish', call())).checksum).toBe(checksum)
      const [own, theirs] = await Promise.all([
        model.score(rows, call()),
        trained.forward({ rows, tokenBudget: 256 }, { scores: ['logprob'] }, call()),
      ])
      for (const [i] of rows.entries()) closeTo(own[i].logprob!, theirs[i].logprob!, 1e-5)
      expect((await model.sample(request(1, 1), call()))[0].versions).toEqual([{ version: 4, from: 0 }])
      await model.saveWeights(join(dir, 'sampler'), call())
      const copy: SampleModel = await sampler()
      await copy.loadWeights(join(dir, 'sampler'), 4, 'finish', call())
      expect(copy.version).toBe(4)
      expect(await copy.score(rows, call())).toEqual(own)
      await copy.close()
      await Promise.all([model.close(), trained.close()])
    })
  })
}

const STEP: AdamStep = { lr: 0.01, betas: [0.9, 0.999], eps: 1e-8, weightDecay: 0.01, gradClip: 1 }
const PROMPT = [3, 7, 5, 9]
const PARAMS = { temperature: 1, maxTokens: 12 }

const request = (seed: number, n = 2): SampleRequest => ({
  prompt: Int32Array.from(PROMPT),
  n,
  params: { ...PARAMS, seed },
})

/** −Σ advantage·logprob / number of active tokens, with a little entropy, so that both gradients are used. */
const policyGradient = defineLoss((g) => {
  const tokens = g.norm('tokens', (rows) => rows.reduce((n, row) => n + row.mask.reduce((a, b) => a + b, 0), 0))
  g.metric('mean_logprob', g.logprob)
  return g.column('advantage').mul(g.logprob).add(g.entropy.mul(0.01)).neg().total().div(tokens)
})

/** A pull on the third of all tokens with the greatest products, and one toward the mean of each group. */
const batchWide = defineLoss((g) => {
  const tokens = g.count().total()
  const order = g.column('advantage').mul(g.logprob.detach()).rank()
  const held = order.lt(tokens.div(3))
  g.metric('held', held.indicator())
  const own = g.logprob.rowMean()
  const apart = own.sub(own.groupMean()).square().add(own.groupMax().square())
  return held.where(g.logprob.cumSum(order).square(), g.logprob).total().div(tokens).add(apart.total())
})

/** Rows of different lengths, starts, masks and temperatures, the same each time. */
function someRows(count: number): Row[] {
  return Array.from({ length: count }, (_, i) => {
    const tokens = Int32Array.from({ length: 4 + ((i * 5) % 9) }, (_, j) => (i * 7 + j * j + 3) % 20)
    const start = 1 + (i % 3)
    const mask = Uint8Array.from({ length: tokens.length - start }, (_, j) => (j % 4 === 2 ? 0 : 1))
    const advantage = Float32Array.from(mask, (_, j) => Math.sin(i + j))
    return { id: `row-${i}`, tokens, start, mask, temperature: i % 2 ? 0.8 : 1, columns: { advantage } }
  })
}
