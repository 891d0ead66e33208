import { TrinityError } from '../base/error.js'
import type { ModelInfo, SampleRequest } from './contract.js'

/** How one token is drawn. */
export interface DrawSpec {
  readonly greedy: boolean
  readonly topK: number
  readonly topP: number
  readonly minP: number
  readonly penalty: number
  readonly seedLow: number
  readonly seedHigh: number
}

/** A request with everything checked and worked out once. */
export interface CheckedRequest extends DrawSpec {
  readonly invT: number
  readonly maxTokens: number
  readonly minTokens: number
  /** End tokens and stop tokens: what must not be drawn before `minTokens`. */
  readonly banned: readonly number[]
  readonly ends: ReadonlySet<number>
  readonly stopIds: ReadonlySet<number>
  readonly top: number
  /** Truncation, penalties or bans make the drawn log-prob another than the model's. */
  readonly reshaped: boolean
}

/** Below this the logits are only scaled to infinity; greedy is what is meant. */
const COLDEST = 1e-3

export interface RequestLimits {
  readonly info: ModelInfo
  readonly cacheTokens: number
  readonly eosTokenIds: readonly number[]
  /** Seed of a request that names none. */
  readonly seed: { readonly low: number; readonly high: number }
}

export function checkRequest(
  request: SampleRequest,
  { info, cacheTokens, eosTokenIds, seed }: RequestLimits,
): CheckedRequest {
  const { prompt, n, params, topLogprobs: top = 0 } = request
  const { temperature, topK = 0, topP = 1, minP = 0, repetitionPenalty: penalty = 1, minTokens = 0 } = params
  const { vocabSize, maxModelLen } = info
  const need = (fine: boolean, what: string, value: unknown, hint: string) => {
    if (fine) return
    throw new TrinityError('engine/bad-request', `${what} is ${value}`, { path: what, hint })
  }
  const whole = (value: number, least: number, most = Number.MAX_SAFE_INTEGER) =>
    Number.isSafeInteger(value) && value >= least && value <= most
  const isToken = (id: number) => whole(id, 0, vocabSize - 1)

  need(prompt instanceof Int32Array && prompt.length > 0, 'prompt', 'empty', 'send at least one token')
  need(
    prompt.length < maxModelLen,
    'prompt',
    `${prompt.length} tokens long`,
    `the model takes ${maxModelLen} with the answer`,
  )
  for (const id of prompt)
    need(isToken(id), 'prompt', `holding token ${id}`, `ids are 0 … ${vocabSize - 1}: is this the model's tokenizer?`)
  need(whole(n, 1, 1 << 16), 'n', n, 'use 1 or more samples')
  need(temperature === 0 || (temperature >= COLDEST && temperature < Infinity), 'temperature', temperature, cold)
  need(Number.isSafeInteger(topK), 'topK', topK, 'use a whole number; 0 switches it off')
  need(topP > 0 && topP <= 1, 'topP', topP, 'use more than 0, at most 1')
  need(minP >= 0 && minP <= 1, 'minP', minP, 'use 0 … 1')
  need(penalty > 0 && penalty < Infinity, 'repetitionPenalty', penalty, 'use a positive number; 1 switches it off')
  need(whole(params.maxTokens, 1), 'maxTokens', params.maxTokens, 'use 1 or more')
  need(whole(minTokens, 0, params.maxTokens), 'minTokens', minTokens, 'use 0 … maxTokens')
  need(whole(top, 0, vocabSize), 'topLogprobs', top, `use 0 … ${vocabSize}`)
  need(
    (params.stop ?? []).every((stop) => stop.length > 0),
    'stop',
    'empty',
    'a stop string needs at least one character',
  )
  for (const id of params.stopTokenIds ?? []) need(isToken(id), 'stopTokenIds', id, `ids are 0 … ${vocabSize - 1}`)
  const own = params.seed
  need(own === undefined || Number.isSafeInteger(own), 'seed', own, 'use a whole number')

  const maxTokens = Math.min(params.maxTokens, maxModelLen - prompt.length)
  const most = prompt.length + maxTokens
  need(
    most <= cacheTokens,
    'prompt + maxTokens',
    `${most} tokens`,
    `the cache holds ${cacheTokens}: raise cacheTokens, or ask for less`,
  )
  const ends = new Set(params.ignoreEos ? [] : eosTokenIds.filter(isToken))
  const stopIds = new Set(params.stopTokenIds)
  const banned = minTokens > 0 ? [...new Set([...ends, ...stopIds])] : []
  return {
    greedy: temperature === 0,
    invT: temperature === 0 ? 1 : 1 / temperature,
    topK: topK > 0 && topK < vocabSize ? topK : 0,
    topP,
    minP,
    penalty,
    seedLow: own === undefined ? seed.low : own | 0,
    seedHigh: own === undefined ? seed.high : Math.floor(own / 2 ** 32) | 0,
    maxTokens,
    minTokens: Math.min(minTokens, maxTokens),
    banned,
    ends,
    stopIds,
    top,
    reshaped:
      temperature > 0 && ((topK > 0 && topK < vocabSize) || topP < 1 || minP > 0 || penalty !== 1 || banned.length > 0),
  }
}

const cold = `use 0 for greedy, else ${COLDEST} or more`
