import type { ChatMessage } from '../model/index.js'

/** Joins what the assistant said in several messages: one turn of the model is one message, or its tokens are not found. */
export function joinTurns(messages: readonly ChatMessage[]): ChatMessage[] {
  const joined: ChatMessage[] = []
  for (const message of messages) {
    const last = joined.at(-1)
    if (last?.role === 'assistant' && message.role === 'assistant') joined[joined.length - 1] = join(last, message)
    else joined.push(message)
  }
  return joined
}

function join(a: ChatMessage, b: ChatMessage): ChatMessage {
  const calls = [...(a.tool_calls ?? []), ...(b.tool_calls ?? [])]
  const text = `${a.content ?? ''}${b.content ?? ''}`
  const reasoning = `${a.reasoning_content ?? ''}${b.reasoning_content ?? ''}`
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
  }
}
