import { type Answer, answerOf, type Part, type Reading } from '../answer.js'
import type { ChatAsked } from '../asked.js'
import type { Answered, ChatModel } from '../chat-model.js'
import type { Head, Wire } from '../dialect.js'
import { tell } from '../said.js'

/** The reply as a whole. The model is told how its answer reads. */
export function messageReply(
  head: Head,
  [answered]: readonly Answered[],
  model: ChatModel,
  reading: Reading,
  { messages }: ChatAsked,
): Wire {
  const answer = answerOf(answered, 0, reading)
  tell(model, head, answered, answer, messages.at(-1))
  return { ...messageHead(head, answer.parts.map(blockOf)), ...ending(answer), usage: usageOf(answered) }
}

/** What is known of a reply before anything is sampled. */
export function messageHead({ id, model }: Head, content: readonly Wire[]): Wire {
  return { id, type: 'message', role: 'assistant', model, content, ...{ stop_reason: null, stop_sequence: null } }
}

export function blockOf(part: Part): Wire {
  if (part.type === 'call') {
    const { id, name, arguments: input } = part.call
    return { type: 'tool_use', id, name, input: JSON.parse(input) as unknown }
  }
  if (part.type === 'text') return { type: 'text', text: part.text }
  return { type: 'thinking', thinking: part.text, signature: '' }
}

export function ending({ finish, stoppedBy }: Answer): Wire {
  if (finish === 'tool_calls') return { stop_reason: 'tool_use', stop_sequence: null }
  if (finish === 'length') return { stop_reason: 'max_tokens', stop_sequence: null }
  if (stoppedBy === undefined) return { stop_reason: 'end_turn', stop_sequence: null }
  return { stop_reason: 'stop_sequence', stop_sequence: stoppedBy }
}

/** Prompt tokens that were cached are counted apart. */
export function usageOf({ promptTokens, sample: { tokens, cachedTokens } }: Answered): Wire {
  return {
    input_tokens: promptTokens - cachedTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cachedTokens,
    output_tokens: tokens.length,
  }
}
