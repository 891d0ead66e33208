import { z } from 'zod'
import { TrinityError } from '../base/error.js'
import type { SamplingArgs } from './chat-args.js'
import { unsupported } from './wire.js'

const count = z.int().min(0)

/** As the OpenAI API bounds it. */
export const temperature = z.number().min(0).max(2)
export const topP = z.number().gt(0).max(1)

/** Texts that end an answer. Empty ones are left out. */
export const stopStrings = z
  .array(z.string())
  .max(64)
  .transform((given) => given.filter((text) => text !== ''))

/** Constraints of an answer as vLLM names them since 0.12. At most one is set. */
const structuredOutputs = z.looseObject({
  json: z.unknown().optional(),
  regex: z.string().nullish(),
  choice: z.array(z.string()).min(1).nullish(),
  json_object: z.boolean().nullish(),
})

/** How answers are drawn: keys that several APIs share, and those that vLLM adds to them. */
export const samplingShape = {
  temperature: temperature.optional(),
  top_p: topP.optional(),
  top_k: z.int().optional(),
  min_p: z.number().optional(),
  repetition_penalty: z.number().optional(),
  presence_penalty: z.number().optional(),
  frequency_penalty: z.number().optional(),
  logit_bias: z.record(z.string(), z.number()).optional(),
  min_tokens: count.optional(),
  n: z.int().min(1).max(128).optional(),
  stop: z.union([z.string(), stopStrings]).optional(),
  stop_token_ids: z.array(count).optional(),
  include_stop_str_in_output: z.boolean().optional(),
  ignore_eos: z.boolean().optional(),
  seed: z.int().optional(),
  response_format: z.looseObject({ type: z.string() }).optional(),
  guided_json: z.unknown().optional(),
  guided_regex: z.string().optional(),
  guided_choice: z.array(z.string()).min(1).optional(),
  structured_outputs: structuredOutputs.optional(),
  /** Another name of `seed`. */
  random_seed: z.int().optional(),
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
  priority: z.unknown().optional(),
  cache_salt: z.unknown().optional(),
  skip_special_tokens: z.unknown().optional(),
}

/** Returns how answers are sampled, in the names of `SamplingArgs`. */
export function samplingArgs(given: Readonly<Record<string, unknown>>, shape: object = samplingShape): SamplingArgs {
  const { structured_outputs, random_seed, stop, ...args } = picked(given, shape)
  return {
    ...args,
    ...(random_seed === undefined || args.seed !== undefined ? {} : { seed: random_seed as number }),
    ...(stop === undefined || (stop as string | string[]).length === 0 ? {} : { stop: stop as string | string[] }),
    ...structured(structured_outputs as Readonly<Record<string, unknown>> | undefined, args),
  }
}

/** Keys of `structured_outputs` that constrain an answer, and the older name of each. */
const STRUCTURED = { json: 'guided_json', regex: 'guided_regex', choice: 'guided_choice' } as const
const UNREADABLE = ['grammar', 'structural_tag']

function structured(
  given: Readonly<Record<string, unknown>> = {},
  args: Readonly<Record<string, unknown>>,
): SamplingArgs {
  const odd = UNREADABLE.find((key) => given[key] !== undefined && given[key] !== null)
  if (odd !== undefined) throw unsupported(`structured_outputs.${odd}`, `'${odd}'`, 'use json, regex or choice')
  const found: Record<string, unknown> = given.json_object === true ? { response_format: { type: 'json_object' } } : {}
  for (const [key, older] of Object.entries(STRUCTURED)) {
    if (given[key] !== undefined && given[key] !== null) found[older] = given[key]
  }
  const both = Object.keys(found).find((key) => args[key] !== undefined)
  if (both === undefined) return found
  throw new TrinityError('chat/format', 'an answer cannot have several formats at once', {
    path: 'structured_outputs',
    hint: `leave out ${both}`,
  })
}

/** The keys of a shape that are set. */
export function picked(given: Readonly<Record<string, unknown>>, shape: object): Record<string, unknown> {
  return Object.fromEntries(Object.keys(shape).flatMap((key) => (given[key] === undefined ? [] : [[key, given[key]]])))
}
