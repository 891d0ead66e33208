import { z } from 'zod'

/** The answers of an SGLang server, as far as they are read. */

/** Tokens of its context that SGLang does not let a prompt and its answer have. */
export const CONTEXT_ROOM = 7

/** Log-prob, token, text. */
const told = z.tuple([z.number().nullable(), z.int(), z.unknown()])

export const answer = z.object({
  /** Which of several requests, in a stream. */
  index: z.int().nullish(),
  output_ids: z.array(z.int()),
  meta_info: z.object({
    finish_reason: z
      .object({ type: z.string(), matched: z.union([z.int(), z.string()]).nullish(), message: z.string().nullish() })
      .nullable(),
    cached_tokens: z.int().nullish(),
    output_token_logprobs: z.array(told).nullish(),
    output_top_logprobs: z.array(z.array(told).nullable()).nullish(),
    input_token_logprobs: z.array(told).nullish(),
    weight_versions: z.array(z.object({ version: z.string(), start: z.int() })).nullish(),
  }),
})
export type Answer = z.infer<typeof answer>

/** One request is answered by an object, several by a list. */
export const answers = z.union([z.array(answer), answer.transform((one) => [one])])

export const modelInfo = z.object({ model_path: z.string() })
export const serverInfo = z.object({
  version: z.string().nullish(),
  context_length: z.int().nullish(),
  max_req_input_len: z.int().nullish(),
  tp_size: z.int().nullish(),
  custom_weight_loader: z.array(z.string()).nullish(),
})
export const updated = z.object({ success: z.boolean(), message: z.string() })
