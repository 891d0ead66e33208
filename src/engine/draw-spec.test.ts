import { describe, expect, it } from 'vitest'
import type { SamplingParams } from './contract.js'
import { checkDraw } from './draw-spec.js'

const check = (params: Partial<SamplingParams>) => checkDraw({ temperature: 1, maxTokens: 1, ...params }, 100)

describe('how a token is drawn', () => {
  it('is plain where everything is off, and is said to be reshaped where something is not', () => {
    const off = { presencePenalty: 0, frequencyPenalty: 0, repetitionPenalty: 1, logitBias: { 5: 0 }, topK: 100 }
    expect(check(off)).toMatchObject({ reshaped: false, biased: [], topK: 0 })
    const on: Partial<SamplingParams>[] = [
      { presencePenalty: -0.1 },
      { frequencyPenalty: 2 },
      { repetitionPenalty: 1.1 },
      { logitBias: { 5: 1 } },
      { topK: 99 },
      { topP: 0.9 },
      { minP: 0.1 },
    ]
    for (const params of on) {
      expect(check(params).reshaped).toBe(true)
      // the likeliest token is certain, whatever was done before
      expect(check({ ...params, temperature: 0 }).reshaped).toBe(false)
    }
    expect(check({ logitBias: { 7: -100, 3: 0.5, 9: 0 } })).toMatchObject({ biased: [3, 7], bias: [0.5, -100] })
  })

  it.each<[string, Partial<SamplingParams>]>([
    ['presence_penalty', { presencePenalty: 2.01 }],
    ['presence_penalty', { presencePenalty: Number.NaN }],
    ['frequency_penalty', { frequencyPenalty: -3 }],
    ['repetition_penalty', { repetitionPenalty: Infinity }],
    ['logit_bias', { logitBias: { 100: 1 } }],
    ['logit_bias', { logitBias: { [-1]: 1 } }],
    ['logit_bias', { logitBias: { 1: 100.5 } }],
    ['logit_bias', { logitBias: { 1: Number.NaN } }],
  ])('refuses %s of %o with what to use', (path, params) => {
    expect(() => check(params)).toThrowError(expect.objectContaining({ code: 'engine/bad-request', path }))
  })
})
