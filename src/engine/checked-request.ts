import type { ModelInfo, SampleRequest } from './contract.js'
import { checkDraw, type DrawSpec, need, whole } from './draw-spec.js'
import { outsideToken } from './outside-token.js'

/** A request with everything checked and worked out once. */
export interface CheckedRequest extends DrawSpec {
  readonly seedLow: number
  readonly seedHigh: number
  readonly maxTokens: number
  readonly minTokens: number
  /** End tokens and stop tokens: what must not be drawn before `minTokens`. */
  readonly banned: readonly number[]
  readonly ends: ReadonlySet<number>
  readonly stopIds: ReadonlySet<number>
  readonly top: number
}

export interface RequestLimits {
  readonly info: ModelInfo
  readonly cacheTokens: number
  /** Seed of a request that names none. */
  readonly seed: { readonly low: number; readonly high: number }
}

export function checkRequest(request: SampleRequest, { info, cacheTokens, seed }: RequestLimits): CheckedRequest {
  const { prompt, n, params, topLogprobs: top = 0 } = request
  const { minTokens = 0 } = params
  const { vocabSize, maxModelLen, endTokens = [] } = info
  const isToken = (id: number) => whole(id, 0, vocabSize - 1)

  need(prompt instanceof Int32Array && prompt.length > 0, 'prompt', 'empty', 'send at least one token')
  need(
    prompt.length < maxModelLen,
    'prompt',
    `${prompt.length} tokens long`,
    `the model takes ${maxModelLen} with the answer`,
  )
  const unknown = outsideToken(prompt, vocabSize)
  need(
    unknown === undefined,
    'prompt',
    `holding token ${unknown}`,
    `ids are 0 … ${vocabSize - 1}: is this the model's tokenizer?`,
  )
  need(whole(n, 1, 1 << 16), 'n', n, 'use 1 or more samples')
  const draw = checkDraw(params, vocabSize)
  need(whole(params.maxTokens, 1), 'max_tokens', params.maxTokens, 'use 1 or more')
  need(whole(minTokens, 0, params.maxTokens), 'min_tokens', minTokens, 'use 0 … max_tokens')
  need(whole(top, 0, vocabSize), 'top_logprobs', top, `use 0 … ${vocabSize}`)
  need(
    (params.stop ?? []).every((stop) => stop.length > 0),
    'stop',
    'empty',
    'a stop string needs at least one character',
  )
  for (const id of params.stopTokenIds ?? []) need(isToken(id), 'stop_token_ids', id, `ids are 0 … ${vocabSize - 1}`)
  const own = params.seed
  need(own === undefined || Number.isSafeInteger(own), 'seed', own, 'use a whole number')

  const maxTokens = Math.min(params.maxTokens, maxModelLen - prompt.length)
  const most = prompt.length + maxTokens
  need(
    most <= cacheTokens,
    'prompt + max_tokens',
    `${most} tokens`,
    `the cache holds ${cacheTokens}: raise cacheTokens, or ask for less`,
  )
  const ends = new Set(params.ignoreEos ? [] : endTokens.filter(isToken))
  const stopIds = new Set(params.stopTokenIds)
  const banned = minTokens > 0 ? [...new Set([...ends, ...stopIds])] : []
  return {
    ...draw,
    seedLow: own === undefined ? seed.low : own | 0,
    seedHigh: own === undefined ? seed.high : Math.floor(own / 2 ** 32) | 0,
    maxTokens,
    minTokens: Math.min(minTokens, maxTokens),
    banned,
    ends,
    stopIds,
    top,
    reshaped: draw.reshaped || (!draw.greedy && (banned.length > 0 || request.allowed !== undefined)),
  }
}
