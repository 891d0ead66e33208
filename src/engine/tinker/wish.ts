import type { SampleRequest } from '../contract.js'
import { unsupported } from './failure.js'

/** What a request may ask of other engines and the API has no word for, by the key that asks for it. */
const ABSENT: readonly [key: string, asks: (request: SampleRequest) => boolean][] = [
  ['model.min_response_tokens', ({ params }) => (params.minTokens ?? 0) > 0],
  ['min_p', ({ params }) => (params.minP ?? 0) > 0],
  ['model.repetition_penalty', ({ params }) => (params.repetitionPenalty ?? 1) !== 1],
  ['presence_penalty', ({ params }) => (params.presencePenalty ?? 0) !== 0],
  ['frequency_penalty', ({ params }) => (params.frequencyPenalty ?? 0) !== 0],
  ['logit_bias', ({ params }) => Object.keys(params.logitBias ?? {}).length > 0],
  ['model.logprobs', ({ topLogprobs = 0 }) => topLogprobs > 0],
  ['response_format', ({ allowed }) => allowed !== undefined],
]

export function checkWish(request: SampleRequest): void {
  const asked = ABSENT.find(([, asks]) => asks(request))
  if (!asked) return
  const [key] = asked
  throw unsupported(`cannot sample with ${key}`, key, `leave ${key} out, or sample with another engine`)
}
