import { createExperience } from '../../experience/create.js'
import type { Experience, Message } from '../../experience/experience.js'
import { rowError } from '../../task/messages.js'
import type { ChatCoder } from './chat-coder.js'

/** Lengths beyond which a row is cut and marked; absent: no limit. */
export interface LengthLimits {
  maxPromptTokens?: number
  maxResponseTokens?: number
  /** Prompt and response together. */
  maxModelLen?: number
}

export interface Sequence {
  tokens: Int32Array
  promptLength: number
  /** Over the response; absent: every token counts. */
  mask?: Uint8Array
  messages?: Message[]
  tools?: Record<string, unknown>[]
  /** Assistant turns that could not be located, and are therefore not learned. */
  divergences?: number
}

/**
 * The longest prompt and, behind a prompt, the longest response that fit. Of a whole conversation only the sum counts: its
 * prompt reaches to the first turn that is learned, and its response holds all later turns.
 */
export function room(
  limits: LengthLimits,
  promptLength: number,
  conversation = false,
): { prompt: number; response: number } {
  const total = limits.maxModelLen ?? Number.POSITIVE_INFINITY
  if (conversation) return { prompt: total - 1, response: total - promptLength }
  return {
    prompt: Math.min(limits.maxPromptTokens ?? Number.POSITIVE_INFINITY, total - 1),
    response: Math.min(limits.maxResponseTokens ?? Number.POSITIVE_INFINITY, total - promptLength),
  }
}

/** An experience to imitate. What does not fit is cut and says so; a cut prompt leaves nothing to learn. */
export function sequenceExperience(sequence: Sequence, limits: LengthLimits, coder: ChatCoder): Experience {
  const { tokens, promptLength, mask, messages, tools, divergences } = sequence
  if (promptLength < 1) throw rowError('the model would have to begin the sequence: nothing comes before the answer')
  if (tokens.length === promptLength) throw rowError('there is nothing to learn: the answer has no tokens')
  const { prompt, response } = room(limits, promptLength, mask !== undefined)
  const texts = { messages, tools, ...(divergences ? { metrics: { token_divergences: divergences } } : {}) }
  if (promptLength > prompt) {
    const kept = tokens.slice(0, prompt)
    const text = { promptText: coder.tokenizer.decode(kept), responseText: '' }
    return createExperience({
      ...texts,
      ...text,
      tokens: kept,
      promptLength: prompt,
      truncateStatus: 'prompt_truncated',
    })
  }
  const end = Math.min(tokens.length, promptLength + response)
  return createExperience({
    ...texts,
    type: mask ? 'multi_turn' : 'single_turn',
    tokens: tokens.slice(0, end),
    promptLength,
    actionMask: mask?.subarray(0, end - promptLength) ?? new Uint8Array(end - promptLength).fill(1),
    truncateStatus: end < tokens.length ? 'response_truncated' : undefined,
    promptText: coder.tokenizer.decode(tokens.subarray(0, promptLength)),
    responseText: coder.tokenizer.decode(tokens.subarray(promptLength, end)),
  })
}
