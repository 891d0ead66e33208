import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { call, openTiny, request } from '../../../../test/support/native-sampler.js'
import { maskWords } from '../../allowed-tokens.js'
import type { AllowedTokens, SampleModel, SamplingParams } from '../../contract.js'

const PROMPT = [56, 15, 8, 27, 7]
const ANSWER = [30, 30, 12, 30, 8]
const VOCAB = 87

/** A mask of these tokens. */
function only(...tokens: number[]): Uint32Array {
  const mask = new Uint32Array(maskWords(VOCAB))
  for (const token of tokens) mask[token >> 5] |= 1 << (token & 31)
  return mask
}

/** Makes the answer begin with these tokens, and leaves what follows free. */
const beginning =
  (answer: readonly number[], then?: Uint32Array): AllowedTokens =>
  (_, made) =>
    made.length < answer.length ? only(answer[made.length]) : then

describe('what is drawn under bias and penalties', () => {
  let model: SampleModel
  /** Log-probs at T = 1 after prompt and answer, by token. */
  const plain = new Map<number, number>()
  beforeAll(async () => {
    model = await openTiny()
    const whole = [...PROMPT, ...ANSWER]
    const [sample] = await model.sample(request(whole, { maxTokens: 1 }, { topLogprobs: VOCAB }), call())
    const [{ tokens, logprobs }] = sample.topLogprobs!
    for (const [i, token] of tokens.entries()) plain.set(token, logprobs[i])
  })
  afterAll(() => model.close())

  /** The sixth token of answers that begin with ANSWER. */
  async function sixth(params: Partial<SamplingParams>, n = 1500, then?: Uint32Array) {
    const wish = { seed: 6, maxTokens: 6, ...params }
    const samples = await model.sample(request(PROMPT, wish, { n, allowed: beginning(ANSWER, then) }), call())
    return samples.map(({ tokens, logprobs, drawnLogprobs }) => {
      expect([...tokens.slice(0, 5)]).toEqual(ANSWER)
      return { token: tokens[5], logprob: logprobs[5], drawn: drawnLogprobs![5] }
    })
  }

  /** Log-probs of a softmax over the given scores. */
  function normalized(scores: Map<number, number>): Map<number, number> {
    const sum = Math.log([...scores.values()].reduce((total, x) => total + Math.exp(x), 0))
    return new Map([...scores].map(([token, x]) => [token, x - sum]))
  }

  const times = (token: number) => ANSWER.filter((one) => one === token).length
  const cases: [string, Partial<SamplingParams>, (token: number) => number][] = [
    ['bias', { logitBias: { 3: 2.5, 30: -1, 41: -100 } }, (t) => ({ 3: 2.5, 30: -1, 41: -100 })[t] ?? 0],
    ['presence', { presencePenalty: 1.5 }, (t) => (times(t) > 0 ? -1.5 : 0)],
    ['frequency', { frequencyPenalty: -0.75 }, (t) => 0.75 * times(t)],
    [
      'all of them',
      { logitBias: { 30: 2 }, presencePenalty: 0.5, frequencyPenalty: 0.25 },
      (t) => (t === 30 ? 2 : 0) - (times(t) > 0 ? 0.5 : 0) - 0.25 * times(t),
    ],
  ]
  for (const temperature of [1, 0.6]) {
    it.each(cases)(`follows %s exactly, at temperature ${temperature}`, async (_, params, shift) => {
      const scores = [...plain].map(([token, x]) => [token, (x + shift(token)) / temperature] as const)
      const expected = normalized(new Map(scores))
      const model1 = normalized(new Map([...plain].map(([token, x]) => [token, x / temperature])))
      const draws = await sixth({ ...params, temperature })
      for (const { token, logprob, drawn } of draws) {
        expect(drawn).toBeCloseTo(expected.get(token)!, 4)
        // the policy's log-prob is that of the model, whatever was done to the draw
        expect(logprob).toBeCloseTo(model1.get(token)!, 5)
      }
      // and the draws are from there: each token as often as five standard deviations allow
      for (const [token, logp] of expected) {
        const p = Math.exp(logp)
        const seen = draws.filter((one) => one.token === token).length / draws.length
        expect(Math.abs(seen - p)).toBeLessThanOrEqual(5 * Math.sqrt((p * (1 - p)) / draws.length) + 1 / draws.length)
      }
    })
  }

  it('counts the answer, not the prompt', async () => {
    const [{ drawn }] = await sixth({ presencePenalty: 2, seed: 1 }, 1, only(15, 56))
    const [{ drawn: same }] = await sixth({ seed: 1 }, 1, only(15, 56))
    expect(drawn).toBe(same)
    // 8 stands in both
    const [{ drawn: other }] = await sixth({ presencePenalty: 2, seed: 1 }, 1, only(8, 56))
    expect(other).not.toBe((await sixth({ seed: 1 }, 1, only(8, 56)))[0].drawn)
  })

  it('adds the bias before the penalty on repetition divides, and takes the others away after it', async () => {
    // Both stand in what was said, and their logits are positive for certain: differences do not depend on their zero.
    const [a, b] = [30, 12]
    const params = { repetitionPenalty: 1.25, logitBias: { [a]: 50, [b]: 30 }, frequencyPenalty: 1.5 }
    const z = (plain.get(a)! - plain.get(b)! + 20) / 1.25 - 1.5 * 3 + 1.5
    const [{ token, drawn }] = await sixth(params, 1, only(a, b))
    expect(drawn).toBeCloseTo(-Math.log1p(Math.exp(token === a ? -z : z)), 4)
  })

  it('takes the likeliest that is left at temperature 0', async () => {
    const [first] = await model.sample(request(PROMPT, { temperature: 0, maxTokens: 1 }), call())
    const [best] = first.tokens
    const ask = async (params: Partial<SamplingParams>, allowed?: AllowedTokens) => {
      const wish = { temperature: 0, maxTokens: 8, ...params }
      return (await model.sample(request(PROMPT, wish, { allowed }), call()))[0]
    }
    const without = await ask({ logitBias: { [best]: -100 } })
    expect([...without.tokens]).not.toContain(best)
    expect(without.drawnLogprobs).toBeUndefined()
    expect(new Set((await ask({ presencePenalty: 2, frequencyPenalty: 2 })).tokens).size).toBe(8)
    const masked = await ask({}, (_, made) => only(5, 6 + made.length))
    for (const [i, token] of masked.tokens.entries()) expect([5, 6 + i]).toContain(token)
  })
})

describe('a mask', () => {
  let model: SampleModel
  beforeAll(async () => {
    model = await openTiny()
  })
  afterAll(() => model.close())

  it('is asked for with what each sample has said', async () => {
    const asked: string[] = []
    const samples = await model.sample(
      request(
        PROMPT,
        { maxTokens: 3, seed: 4 },
        {
          n: 2,
          allowed: (index, made) => {
            asked.push(`${index}: ${made}`)
            return index === 0 ? only(20, 21, 22) : undefined
          },
        },
      ),
      call(),
    )
    const said = samples.map(({ tokens }) => [...tokens])
    expect(said[0].every((token) => [20, 21, 22].includes(token))).toBe(true)
    const due = said.flatMap((tokens, i) => [0, 1, 2].map((made) => `${i}: ${tokens.slice(0, made)}`))
    expect(new Set(asked)).toEqual(new Set(due))
    expect(samples[0].drawnLogprobs![0]).toBeGreaterThan(samples[0].logprobs[0])
  })

  it('ends the request with its error, and others go on', async () => {
    const ask = (allowed?: AllowedTokens) => model.sample(request(PROMPT, {}, { n: 2, allowed }), call())
    const fine = ask()
    await expect(
      ask((_, made) => {
        if (made.length === 2) throw new Error('grammar')
        return undefined
      }),
    ).rejects.toThrow('grammar')
    await expect(ask(() => new Uint32Array(1))).rejects.toMatchObject({ code: 'engine/bad-mask' })
    await expect(ask(() => only())).rejects.toMatchObject({ code: 'engine/no-token' })
    expect((await fine).map(({ finish }) => finish)).toEqual(['length', 'length'])
    expect(model.stats()).toMatchObject({ running: 0, cacheTokensUsed: 0 })
  })
})
