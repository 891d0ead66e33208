import type { Reading } from '../answer.js'
import type { ChatAsked } from '../asked.js'
import { type BlockEvent, Blocks } from '../blocks.js'
import type { ChatModel } from '../chat-model.js'
import type { Answering, Head, ServerEvent, Wire } from '../dialect.js'
import { partStream } from '../part-stream.js'
import { tell } from '../said.js'
import { blockOf, ending, messageHead, usageOf } from './reply.js'

const NO_USAGE = { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 }

/** The reply as events while it is sampled. */
export async function* messageEvents(
  head: Head,
  model: ChatModel,
  answering: Answering,
  reading: Reading,
  { messages, args }: ChatAsked,
): AsyncGenerator<ServerEvent> {
  const blocks = new Blocks()
  let begun = false
  for await (const streamed of partStream(model, answering, reading, args)) {
    // tokens are counted at the end
    if (!begun) yield event({ type: 'message_start', message: { ...messageHead(head, []), usage: NO_USAGE } })
    begun = true
    if ('part' in streamed) {
      for (const one of blocks.push(streamed.part)) yield event(blockEvent(one))
      continue
    }
    for (const one of blocks.end()) yield event(blockEvent(one))
    const { answer, answered } = streamed
    tell(model, head, answered, answer, messages.at(-1))
    yield event({ type: 'message_delta', delta: ending(answer), usage: usageOf(answered) })
    yield event({ type: 'message_stop' })
  }
}

function event(data: Wire & { type: string }): ServerEvent {
  return { event: data.type, data: JSON.stringify(data) }
}

function blockEvent(one: BlockEvent): Wire & { type: string } {
  const { index, part } = one
  if (one.type === 'end') return { type: 'content_block_stop', index }
  if (one.type === 'begin') {
    const empty = part.type === 'call' ? { ...part, call: { ...part.call, arguments: '{}' } } : part
    return { type: 'content_block_start', index, content_block: blockOf(empty) }
  }
  const { text } = one
  if (part.type === 'text') return { type: 'content_block_delta', index, delta: { type: 'text_delta', text } }
  if (part.type === 'call') {
    return { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: text } }
  }
  return { type: 'content_block_delta', index, delta: { type: 'thinking_delta', thinking: text } }
}
