import { TrinityError } from '../base/error.js'
import type { SamplingArgs } from '../dialect/chat-args.js'
import type { SamplingParams } from '../engine/contract.js'

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
    presencePenalty: args.presence_penalty ?? undefined,
    frequencyPenalty: args.frequency_penalty ?? undefined,
    logitBias: args.logit_bias ?? undefined,
    maxTokens,
    minTokens: Math.min(args.min_tokens ?? limits.minResponseTokens ?? 0, maxTokens),
    stop: stop?.length ? stop : undefined,
    stopTokenIds: args.stop_token_ids ?? undefined,
    ignoreEos: args.ignore_eos ?? undefined,
    seed: args.seed ?? seed,
  }
}

/** The same where a format says when an answer is complete: nothing may keep it from ending then. */
export function endsByItself(params: SamplingParams, args: SamplingArgs): SamplingParams {
  for (const key of ['ignore_eos', 'min_tokens'] as const) {
    if (!args[key]) continue
    throw new TrinityError('chat/format', `an answer cannot have both a format and ${key}`, {
      path: key,
      hint: `leave out ${key}, or the format`,
    })
  }
  return { ...params, minTokens: 0 }
}
