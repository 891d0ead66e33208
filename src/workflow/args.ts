import type { SamplingParams } from '../engine/contract.js'

/** Sampling of one call, under the names of the YAML and of the OpenAI API; null and undefined mean the default. */
export interface SamplingArgs {
  temperature?: number | null
  top_p?: number | null
  top_k?: number | null
  min_p?: number | null
  repetition_penalty?: number | null
  max_tokens?: number | null
  min_tokens?: number | null
  /** How many answers; default: one, or all runs of the task for a workflow that repeats itself. */
  n?: number | null
  stop?: string | readonly string[] | null
  stop_token_ids?: readonly number[] | null
  /** Leave the stop string in the text. Its tokens are in the experience in any case. */
  include_stop_str_in_output?: boolean | null
  ignore_eos?: boolean | null
  seed?: number | null
  /** Log-probs of how many likeliest tokens to keep beside the drawn one. */
  logprobs?: number | null
}

export interface ChatArgs extends SamplingArgs {
  tools?: readonly unknown[]
  enable_thinking?: boolean | null
  /** Further variables of the chat template. */
  chat_template_kwargs?: Record<string, unknown>
}

/** Lengths and habits of a model, from `explorer.rollout_model` (or an entry of `auxiliary_models`). */
export interface ModelLimits {
  maxModelLen: number
  maxPromptTokens?: number | null
  maxResponseTokens?: number | null
  minResponseTokens?: number | null
  /** A prompt that is too long gives experiences without a gradient; false: it is an error. */
  truncatePrompts?: boolean | null
  enableThinking?: boolean | null
}

/** The first that is set. */
export function merged(args: SamplingArgs, defaults: SamplingArgs): SamplingArgs {
  const result: Record<string, unknown> = { ...defaults }
  for (const [key, value] of Object.entries(args)) if (value !== undefined && value !== null) result[key] = value
  return result as SamplingArgs
}

export function samplingParams(
  args: SamplingArgs,
  promptLength: number,
  limits: ModelLimits,
  seed: number,
): SamplingParams {
  const room = Math.max(1, limits.maxModelLen - promptLength)
  const maxTokens = Math.min(args.max_tokens ?? limits.maxResponseTokens ?? room, room)
  const stop = args.stop == null ? undefined : typeof args.stop === 'string' ? [args.stop] : args.stop
  return {
    temperature: args.temperature ?? 1,
    topK: args.top_k ?? undefined,
    topP: args.top_p ?? undefined,
    minP: args.min_p ?? undefined,
    repetitionPenalty: args.repetition_penalty ?? undefined,
    maxTokens,
    minTokens: Math.min(args.min_tokens ?? limits.minResponseTokens ?? 0, maxTokens),
    stop: stop?.length ? stop : undefined,
    stopTokenIds: args.stop_token_ids ?? undefined,
    ignoreEos: args.ignore_eos ?? undefined,
    seed: args.seed ?? seed,
  }
}
