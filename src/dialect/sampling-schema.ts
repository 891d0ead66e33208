import { z } from 'zod'

const count = z.int().min(0)

/** How answers are drawn: keys that several APIs share, and those that vLLM adds to them. */
export const samplingShape = {
  temperature: z.number().min(0).optional(),
  top_p: z.number().optional(),
  top_k: z.int().optional(),
  min_p: z.number().optional(),
  repetition_penalty: z.number().optional(),
  presence_penalty: z.number().optional(),
  frequency_penalty: z.number().optional(),
  logit_bias: z.record(z.string(), z.number()).optional(),
  min_tokens: count.optional(),
  n: z.int().min(1).max(128).optional(),
  stop: z.union([z.string().min(1), z.array(z.string().min(1)).max(64)]).optional(),
  stop_token_ids: z.array(count).optional(),
  include_stop_str_in_output: z.boolean().optional(),
  ignore_eos: z.boolean().optional(),
  seed: z.int().optional(),
  response_format: z.looseObject({ type: z.string() }).optional(),
  guided_json: z.unknown().optional(),
  guided_regex: z.string().optional(),
  guided_choice: z.array(z.string()).min(1).optional(),
}

export const thinkingShape = {
  enable_thinking: z.boolean().optional(),
  chat_template_kwargs: z.record(z.string(), z.unknown()).optional(),
}

/** Say nothing about what is sampled. */
export const silentShape = {
  model: z.string().optional(),
  stream: z.boolean().optional(),
  user: z.string().optional(),
  session_id: z.string().optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  store: z.unknown().optional(),
  service_tier: z.unknown().optional(),
  safety_identifier: z.unknown().optional(),
  prompt_cache_key: z.unknown().optional(),
  prompt_cache_retention: z.unknown().optional(),
}

/** The keys of a shape that are set. */
export function picked(given: Readonly<Record<string, unknown>>, shape: object): Record<string, unknown> {
  return Object.fromEntries(Object.keys(shape).flatMap((key) => (given[key] === undefined ? [] : [[key, given[key]]])))
}
