import { z } from 'zod'
import type { SamplingArgs } from '../chat-args.js'
import type { Wire } from '../dialect.js'
import { RequestNotes } from '../request-notes.js'
import { samplingArgs, samplingShape, silentShape } from '../sampling-schema.js'
import { readBody, unsupported } from '../wire.js'

const text = z.string().min(1)
const tokens = z.array(z.int().min(0)).min(1)

const SCHEMA = z.object({
  ...silentShape,
  ...samplingShape,
  prompt: z.union([text, tokens, z.array(text).min(1).max(128), z.array(tokens).min(1).max(128)]),
  max_tokens: z.int().min(1).optional(),
  logprobs: z.int().min(0).max(20).optional(),
  best_of: z.int().optional(),
  return_token_ids: z.boolean().optional(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).optional(),
  // understood only where they ask for nothing
  echo: z.literal(false).optional(),
  suffix: z.literal('').optional(),
})

/** What a request of the OpenAI completions API asks for. */
export interface CompletionsAsked {
  readonly prompts: readonly (string | readonly number[])[]
  /** `n` is the number of answers to each prompt. */
  readonly args: SamplingArgs & { readonly n: number }
  readonly stream: boolean
  readonly usage: boolean
  readonly logprobs: boolean
  readonly tokenIds: boolean
  readonly notes: RequestNotes
}

/** The API's own default. */
const MAX_TOKENS = 16

export function readRequest(body: Wire): CompletionsAsked {
  const notes = new RequestNotes()
  const given = readBody(SCHEMA, body, notes)
  const n = given.n ?? 1
  if (given.best_of !== undefined && given.best_of !== n) {
    throw unsupported('best_of', 'choosing the best of several answers', 'set n to get all of them')
  }
  const { prompt } = given
  const several = Array.isArray(prompt) && typeof prompt[0] !== 'number'
  return {
    prompts: (several ? prompt : [prompt]) as CompletionsAsked['prompts'],
    args: {
      ...samplingArgs(given),
      n,
      max_tokens: given.max_tokens ?? MAX_TOKENS,
      ...(given.logprobs ? { logprobs: given.logprobs } : {}),
    },
    stream: given.stream ?? false,
    usage: given.stream_options?.include_usage ?? false,
    logprobs: given.logprobs !== undefined,
    tokenIds: given.return_token_ids ?? false,
    notes,
  }
}
