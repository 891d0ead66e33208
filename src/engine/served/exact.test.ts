import { expect, it } from 'vitest'
import type { SamplingParams } from '../contract.js'
import { servedRequest } from './answers.fixture.js'
import { needExact } from './exact.js'

const wish = (params: Partial<SamplingParams>) => servedRequest({ temperature: 1, maxTokens: 1, ...params }).wish

it('takes what a server can tell log-probs of by our definition, and refuses the rest', () => {
  for (const params of [{}, { temperature: 0 }, { topP: 0.5 }, { temperature: 0.5, topK: 2 }]) {
    needExact('model', wish(params), 'm')
  }
  for (const params of [{}, { temperature: 0 }, { topP: 0.5, repetitionPenalty: 2 }])
    needExact('raw', wish(params), 'm')
  for (const params of [{}, { temperature: 0.5 }, { temperature: 0 }]) needExact('processed', wish(params), 'm')
  const refused = expect.objectContaining({ code: 'engine/logprobs' })
  expect(() => needExact('raw', wish({ temperature: 0.5 }), 'm')).toThrow(refused)
  expect(() => needExact('processed', wish({ topP: 0.9 }), 'm')).toThrow(refused)
})
