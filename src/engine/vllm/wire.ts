import { z } from 'zod'

/** The answers of a vLLM server, as far as they are read. */

const logprob = z.object({ token_id: z.int(), logprob: z.number() })

const choice = z.object({
  index: z.int(),
  finish_reason: z.string().nullable(),
  stop_reason: z.union([z.int(), z.string()]).nullish(),
  token_ids: z.array(z.int()).nullable(),
  logprobs: z.object({ content: z.array(logprob.extend({ top_logprobs: z.array(logprob) })).nullable() }).nullish(),
  weight_versions: z.array(z.object({ version: z.string(), start: z.int() })).nullish(),
})
export type Choice = z.infer<typeof choice>

const usage = z.object({
  prompt_tokens_details: z.object({ cached_tokens: z.int().nullish() }).nullish(),
})

/** For each token of the prompt but the first: its log-prob, by its id. */
const promptLogprobs = z.array(z.record(z.string(), z.object({ logprob: z.number() })).nullable())

export const generated = z.object({
  choices: z.array(choice),
  usage: usage.nullish(),
  prompt_logprobs: promptLogprobs.nullish(),
})
export type Generated = z.infer<typeof generated>

export const versionAnswer = z.object({ version: z.string() })
export const modelsAnswer = z.object({
  data: z.array(z.object({ id: z.string(), max_model_len: z.int().nullish(), parent: z.string().nullish() })),
})
export const serverInfo = z.object({
  vllm_config: z.object({ parallel_config: z.object({ worker_extension_cls: z.string().nullish() }) }),
})
export const rpcAnswer = z.object({ results: z.array(z.unknown()) })
export const anything = z.unknown()

/** Log-probs of the tokens of a prompt, the first one left out. */
export function promptScores(prompt: Int32Array, { prompt_logprobs: given }: Generated): Float32Array {
  return Float32Array.from(prompt.subarray(1), (token, i) => given?.[i + 1]?.[token]?.logprob ?? Number.NaN)
}
