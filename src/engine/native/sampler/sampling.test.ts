import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { call, openTiny, request, tiny } from '../../../../test/support/native-sampler.js'
import { Tokenizer } from '../../../model/tokenizer.js'
import type { SampleModel, SamplingParams } from '../../contract.js'

const PROMPT = [56, 15, 8, 27, 7]

describe('what is drawn', () => {
  let model: SampleModel
  /** Model probabilities of the first token at T = 1, by rank. */
  let ranked: { token: number; p: number }[]
  beforeAll(async () => {
    model = await openTiny()
    const [sample] = await model.sample(request(PROMPT, { maxTokens: 1 }, { topLogprobs: 87 }), call())
    const [{ tokens, logprobs }] = sample.topLogprobs!
    ranked = [...tokens].map((token, i) => ({ token, p: Math.exp(logprobs[i]) }))
  })
  afterAll(() => model.close())

  const draw = async (params: Partial<SamplingParams>, n = 4000) =>
    (await model.sample(request(PROMPT, { seed: 9, maxTokens: 1, ...params }, { n }), call())).map((s) => s.tokens[0])

  /** Pearson's statistic over the tokens that are expected at least 5 times; the others are one class. */
  function misfit(tokens: number[], expected: Map<number, number>) {
    const counts = new Map<number, number>()
    for (const token of tokens) counts.set(token, (counts.get(token) ?? 0) + 1)
    let statistic = 0
    let classes = 0
    let [restSeen, restDue] = [tokens.length, tokens.length]
    for (const [token, p] of expected) {
      const due = p * tokens.length
      if (due < 5) continue
      const seen = counts.get(token) ?? 0
      statistic += (seen - due) ** 2 / due
      classes++
      restSeen -= seen
      restDue -= due
    }
    if (restDue > 5) statistic += (restSeen - restDue) ** 2 / restDue
    // Mean and variance of chi-square: five standard deviations never happen by chance, and the seed is fixed anyway.
    return (statistic - (classes - 1)) / Math.sqrt(2 * Math.max(1, classes - 1))
  }
  const normalized = (list: { token: number; p: number }[]) => {
    const sum = list.reduce((total, { p }) => total + p, 0)
    return new Map(list.map(({ token, p }) => [token, p / sum]))
  }
  /** Smallest set of at least this mass. */
  const nucleus = (list: { token: number; p: number }[], mass: number) => {
    const sum = list.reduce((total, { p }) => total + p, 0)
    let reached = 0
    const end = list.findIndex(({ p }) => {
      reached += p / sum
      return reached >= mass
    })
    return list.slice(0, end + 1)
  }

  it('has the distribution of the model', async () => {
    expect(ranked.reduce((sum, { p }) => sum + p, 0)).toBeCloseTo(1, 5)
    expect(misfit(await draw({}), normalized(ranked))).toBeLessThan(5)
    const warm = ranked.map(({ token, p }) => ({ token, p: p ** (1 / 1.5) }))
    expect(misfit(await draw({ temperature: 1.5 }), normalized(warm))).toBeLessThan(5)
    // The check itself notices: the distribution at another temperature does not fit.
    expect(misfit(await draw({ temperature: 1.5 }), normalized(ranked))).toBeGreaterThan(5)
  })

  it.each([
    ['top-k', { topK: 5 }, () => ranked.slice(0, 5)],
    ['top-p', { topP: 0.7 }, () => nucleus(ranked, 0.7)],
    ['min-p', { minP: 0.1 }, () => ranked.filter(({ p }) => p >= 0.1 * ranked[0].p)],
    ['top-k, then top-p', { topK: 6, topP: 0.8 }, () => nucleus(ranked.slice(0, 6), 0.8)],
    ['a top-p that leaves one', { topP: 1e-6 }, () => ranked.slice(0, 1)],
  ])('is cut by %s', async (_, params, kept) => {
    const expected = normalized(kept())
    const samples = await model.sample(request(PROMPT, { seed: 4, maxTokens: 1, ...params }, { n: 2000 }), call())
    const tokens = samples.map((sample) => sample.tokens[0])
    expect(new Set(tokens)).toEqual(new Set(expected.keys()))
    if (expected.size > 1) expect(misfit(tokens, expected)).toBeLessThan(5)
    // Both log-probs: of the model, and of what it was drawn from.
    const model1 = new Map(ranked.map(({ token, p }) => [token, Math.log(p)]))
    for (const { tokens, logprobs, drawnLogprobs } of samples) {
      expect(logprobs[0]).toBeCloseTo(model1.get(tokens[0])!, 5)
      expect(drawnLogprobs![0]).toBeCloseTo(Math.log(expected.get(tokens[0])!), 4)
    }
  })

  it('repeats less under a penalty', async () => {
    const penalty = 1.7
    const [plain] = await model.sample(request(PROMPT, { maxTokens: 1 }, { topLogprobs: 87 }), call())
    const prompt = [...PROMPT, ranked[0].token]
    const [after] = await model.sample(request(prompt, { maxTokens: 1 }, { topLogprobs: 87 }), call())
    expect(plain.drawnLogprobs).toBeUndefined()
    const { tokens, logprobs } = after.topLogprobs![0]
    // Penalized logits are known up to their normalizer only where the sign of a logit is known: log-probs differ from
    // logits by a constant, found here from two draws under the penalty.
    const samples = await model.sample(
      request(prompt, { maxTokens: 1, repetitionPenalty: penalty, seed: 3 }, { n: 500 }),
      call(),
    )
    const base = new Map([...tokens].map((token, i) => [token, logprobs[i]]))
    const shifts = samples
      .filter(({ tokens: [token] }) => !prompt.includes(token))
      .map(({ tokens: [token], drawnLogprobs }) => drawnLogprobs![0] - base.get(token)!)
    expect(shifts.length).toBeGreaterThan(10)
    for (const shift of shifts) expect(shift).toBeCloseTo(shifts[0], 4)
    expect(shifts[0]).toBeGreaterThan(0)
    for (const {
      tokens: [token],
      drawnLogprobs,
    } of samples) {
      if (prompt.includes(token)) expect(drawnLogprobs![0]).toBeLessThan(base.get(token)! + shifts[0])
    }
  })

  it('is greedy at temperature 0, with log-probs at T = 1', async () => {
    const [first] = await model.sample(request(PROMPT, { temperature: 0, maxTokens: 1, topK: 3 }), call())
    expect(first.tokens[0]).toBe(ranked[0].token)
    expect(first.logprobs[0]).toBeCloseTo(Math.log(ranked[0].p), 5)
    expect(first.drawnLogprobs).toBeUndefined()
  })

  it('differs by seed, by sample, and by request when no seed is named', async () => {
    const tokens = async (seed?: number, n = 1) =>
      (await model.sample(request(PROMPT, { seed, maxTokens: 20 }, { n }), call())).map((s) => s.tokens.join())
    const all = [...(await tokens(1, 3)), ...(await tokens(2)), ...(await tokens(-2)), ...(await tokens(2 ** 40 + 1))]
    expect(new Set(all).size).toBe(6)
    expect(await tokens()).not.toEqual(await tokens())
    expect((await tokens(1, 3))[2]).toBe(all[2])
  })
})

describe('where it ends', () => {
  let model: SampleModel
  let tokenizer: Tokenizer
  beforeAll(async () => {
    model = await openTiny()
    tokenizer = await Tokenizer.load(tiny)
  })
  afterAll(() => model.close())
  const one = async (params: Partial<SamplingParams>) =>
    (await model.sample(request(PROMPT, { seed: 2, maxTokens: 40, ...params }), call()))[0]

  it('at stop strings, also across tokens', async () => {
    const free = await one({})
    expect(free.finish).toBe('length')
    expect(free.tokens).toHaveLength(40)
    const text = (count: number) => tokenizer.decode(free.tokens.slice(0, count))
    // Text of tokens 9 to 11 that does not come earlier.
    const stop = text(12).slice(text(9).length)
    expect(stop.length).toBeGreaterThan(1)
    const at = Array.from({ length: 41 }, (_, i) => i).find((i) => text(i).includes(stop))!
    const stopped = await one({ stop: ['not there', stop] })
    expect(stopped).toMatchObject({ finish: 'stop', stoppedBy: stop })
    expect([...stopped.tokens]).toEqual([...free.tokens.slice(0, at)])
    // Only what is complete after the least number of tokens counts.
    const longer = await one({ stop: [stop], minTokens: at + 1 })
    expect(longer.tokens.length).toBeGreaterThan(at)
  })

  it('at stop tokens and end tokens, not before the least number of tokens', async () => {
    const free = await one({})
    const id = free.tokens[6]
    const first = free.tokens.indexOf(id)
    const stopped = await one({ stopTokenIds: [id] })
    expect(stopped).toMatchObject({ finish: 'stop', stoppedBy: id })
    expect([...stopped.tokens]).toEqual([...free.tokens.slice(0, first + 1)])
    const longer = await one({ stopTokenIds: [id], minTokens: 10 })
    expect([...longer.tokens.slice(0, 10)]).not.toContain(id)
    expect(longer.drawnLogprobs).toBeDefined()

    const ends = [2, 5]
    const samples = await model.sample(
      request(PROMPT, { ignoreEos: false, maxTokens: 60, temperature: 1.5, seed: 1 }, { n: 40 }),
      call(),
    )
    const ended = samples.filter((sample) => sample.finish === 'stop')
    expect(ended.length).toBeGreaterThan(0)
    for (const { tokens, stoppedBy } of ended) {
      expect(ends).toContain(tokens.at(-1))
      expect(stoppedBy).toBeUndefined()
    }
    for (const sample of samples) {
      const inner = sample.finish === 'stop' ? sample.tokens.slice(0, -1) : sample.tokens
      expect(inner.some((token) => ends.includes(token))).toBe(false)
    }
  })

  it('at the length of the model', async () => {
    const [sample] = await model.sample(request(new Array(120).fill(9), { maxTokens: 500 }), call())
    expect(sample).toMatchObject({ finish: 'length' })
    expect(sample.tokens).toHaveLength(8)
  })
})
