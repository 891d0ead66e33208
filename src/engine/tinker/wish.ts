import type { SampleRequest } from '../contract.js'
import { unsupported } from './failure.js'

/** What a request may ask of other engines and the API has no word for: each is named with the key that asks for it. */
const ABSENT: readonly [name: string, key: string, asks: (request: SampleRequest) => boolean][] = [
  ['minTokens', 'model.min_response_tokens', ({ params }) => (params.minTokens ?? 0) > 0],
  ['minP', 'min_p', ({ params }) => (params.minP ?? 0) > 0],
  ['repetitionPenalty', 'model.repetition_penalty', ({ params }) => (params.repetitionPenalty ?? 1) !== 1],
  ['presencePenalty', 'presence_penalty', ({ params }) => (params.presencePenalty ?? 0) !== 0],
  ['frequencyPenalty', 'frequency_penalty', ({ params }) => (params.frequencyPenalty ?? 0) !== 0],
  ['logitBias', 'logit_bias', ({ params }) => Object.keys(params.logitBias ?? {}).length > 0],
  ['topLogprobs', 'model.logprobs', ({ topLogprobs = 0 }) => topLogprobs > 0],
  ['allowed', 'response_format', ({ allowed }) => allowed !== undefined],
]

export function checkWish(request: SampleRequest): void {
  const asked = ABSENT.find(([, , asks]) => asks(request))
  if (!asked) return
  const [name, key] = asked
  throw unsupported(`cannot sample with ${name}`, key, `leave ${key} out, or sample with another engine`)
}
