import { z } from 'zod'

/** What is read of the OpenAI chat API. Services add fields of their own and leave out what they do not know. */

const usage = z.looseObject({
  prompt_tokens: z.number().catch(0),
  completion_tokens: z.number().catch(0),
  prompt_tokens_details: z.looseObject({ cached_tokens: z.number().nullish() }).nullish(),
})

const part = z.looseObject({ text: z.string().nullish() })

const message = z.looseObject({
  content: z.union([z.string(), z.array(part)]).nullish(),
  refusal: z.string().nullish(),
  tool_calls: z
    .array(z.looseObject({ function: z.looseObject({ name: z.string(), arguments: z.unknown().optional() }) }))
    .nullish(),
})

const tokenLogprob = z.looseObject({ token: z.string(), logprob: z.number(), bytes: z.array(z.number()).nullish() })
const logprobs = z.looseObject({ content: z.array(tokenLogprob).nullish() }).nullish()

const choice = z.looseObject({ message, finish_reason: z.string().nullish(), logprobs })

export const completion = z.looseObject({ choices: z.array(choice).min(1), usage: usage.nullish() })

const callPiece = z.looseObject({
  index: z.number().nullish(),
  function: z.looseObject({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
})

const delta = z.looseObject({
  content: z.string().nullish(),
  refusal: z.string().nullish(),
  tool_calls: z.array(callPiece).nullish(),
})

export const chunk = z.looseObject({
  choices: z
    .array(
      z.looseObject({
        index: z.number().catch(0),
        delta: delta.nullish(),
        finish_reason: z.string().nullish(),
        logprobs,
      }),
    )
    .catch([]),
  usage: usage.nullish(),
  error: z.unknown().optional(),
})

/** The list of models; where it has another form, nothing is read of it. */
export const models = z.looseObject({ data: z.array(z.looseObject({ id: z.string() })).catch([]) })

export type Usage = z.output<typeof usage>
export type Completion = z.output<typeof completion>
export type Choice = z.output<typeof choice>
export type Chunk = z.output<typeof chunk>
export type TokenLogprob = z.output<typeof tokenLogprob>
