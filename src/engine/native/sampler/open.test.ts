import { describe, expect, it } from 'vitest'
import { call, essence, request, tiny } from '../../../../test/support/native-sampler.js'
import { NativeEngine } from '../engine.js'
import type { SamplingDtype } from '../options.js'

const PROMPT = [56, 15, 8, 27, 7]
const open = (dtype: SamplingDtype) => new NativeEngine({ dtype }).openSample({ path: tiny, seed: 1 }, call())

describe('sampling in bfloat16', () => {
  it('tells log-probs of what it draws from, which is near the model in 32 bits and not the same', async () => {
    const [exact, rounded] = await Promise.all([open('float32'), open('bfloat16')])
    const first = async (model: typeof exact) => {
      const [sample] = await model.sample(request(PROMPT, { maxTokens: 1 }, { topLogprobs: 87 }), call())
      const [{ tokens, logprobs }] = sample.topLogprobs!
      return { sample, all: new Map([...tokens].map((token, i) => [token, logprobs[i]])) }
    }
    const [wide, narrow] = [await first(exact), await first(rounded)]
    const mass = [...narrow.all.values()].reduce((sum, logprob) => sum + Math.exp(logprob), 0)
    expect(mass).toBeCloseTo(1, 5)
    expect(narrow.sample.logprobs[0]).toBe(narrow.all.get(narrow.sample.tokens[0]))
    const gaps = [...narrow.all].map(([token, logprob]) => Math.abs(logprob - wide.all.get(token)!))
    expect(Math.max(...gaps)).toBeGreaterThan(0)
    expect(Math.max(...gaps)).toBeLessThan(0.1)
    await Promise.all([exact.close(), rounded.close()])
  })

  it('gives the same bits alone and in company', async () => {
    const model = await open('bfloat16')
    const one = request(PROMPT, { seed: 5 }, { n: 3 })
    const alone = essence(await model.sample(one, call()))
    const others = Array.from({ length: 60 }, (_, i) => model.sample(request([i + 3, 9], { seed: i }), call()))
    expect(essence(await model.sample(one, call()))).toEqual(alone)
    await Promise.all(others)
    await model.close()
  })
})
