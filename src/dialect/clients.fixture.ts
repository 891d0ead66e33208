import type { Wire } from './dialect.js'

/** How clients of each dialect ask, put a stream together, and send a reply back. Written apart from what it tests. */

const tool = { name: 'add', description: 'adds' }
const hello = { role: 'user', content: 'hello' }
const more = { role: 'user', content: 'more' }

export function questionWire(name: string): Wire {
  if (name === 'chat') return { messages: [hello], tools: [{ type: 'function', function: tool }] }
  if (name === 'responses') return { input: [hello], tools: [{ type: 'function', ...tool }] }
  if (name === 'completions') return { prompt: 'hello' }
  return { messages: [hello], tools: [{ ...tool, input_schema: { type: 'object' } }], max_tokens: 10_000 }
}

// biome-ignore lint/suspicious/noExplicitAny: whatever comes over the wire
type Json = { [key: string]: any }

export function backWire(name: string, question: Wire, reply: Json): Wire {
  if (name === 'responses') return { ...question, input: [hello, ...reply.output, more] }
  const { content, tool_calls } = reply.choices?.[0].message ?? {}
  const said =
    name === 'chat'
      ? { content: content ?? '', name: 'model', ...(tool_calls ? { tool_calls: tool_calls.map(reprinted) } : {}) }
      : { content: reply.content }
  return { ...question, messages: [hello, { role: 'assistant', ...said }, more] }
}

/** A call with its arguments printed in another way. */
function reprinted(call: Json): Json {
  const args = JSON.stringify(JSON.parse(call.function.arguments), null, 2)
  return { ...call, function: { ...call.function, arguments: args } }
}

/** The whole reply out of its events. */
export function answerFold(name: string, events: readonly Json[]): Wire {
  return name === 'chat' ? foldChat(events) : name === 'responses' ? foldResponse(events) : foldMessage(events)
}

function foldChat(events: readonly Json[]): Wire {
  const { object: _, usage: __, ...head } = events[0]
  const message: Json = { role: 'assistant', content: '', refusal: null }
  let finish_reason: unknown
  for (const { choices } of events) {
    for (const { delta, finish_reason: reason } of choices) {
      if (delta.content) message.content += delta.content
      if (delta.reasoning_content)
        message.reasoning_content = (message.reasoning_content ?? '') + delta.reasoning_content
      for (const { index, ...call } of delta.tool_calls ?? []) {
        message.tool_calls ??= []
        message.tool_calls[index] = call
      }
      finish_reason = reason ?? finish_reason
    }
  }
  if (message.content === '' && message.tool_calls) message.content = null
  const choices = [{ index: 0, message, finish_reason, logprobs: null }]
  return { ...head, object: 'chat.completion', choices, usage: events.at(-1)!.usage }
}

function foldMessage(events: readonly Json[]): Wire {
  let message: Json = {}
  let json = ''
  for (const event of events) {
    const block = event.index === undefined ? undefined : message.content[event.index]
    if (event.type === 'message_start') message = structuredClone(event.message)
    else if (event.type === 'content_block_start') message.content[event.index] = { ...event.content_block }
    else if (event.type === 'content_block_stop') {
      if (block.type === 'tool_use') block.input = JSON.parse(json)
      json = ''
    } else if (event.type === 'content_block_delta') {
      const { text, thinking, partial_json } = event.delta
      if (text !== undefined) block.text += text
      else if (thinking !== undefined) block.thinking += thinking
      else json += partial_json
    } else if (event.type === 'message_delta') Object.assign(message, event.delta, { usage: event.usage })
  }
  if (events.at(-1)!.type !== 'message_stop') throw new Error('the message does not stop')
  return message
}

/** The last event holds everything; what came before must say the same. */
function foldResponse(events: readonly Json[]): Wire {
  if (events.some(({ sequence_number }, i) => sequence_number !== i)) throw new Error('events are not numbered')
  const { response } = events.at(-1)!
  const texts = new Map<string, string>()
  for (const { type, item_id, delta } of events) {
    if (type.endsWith('.delta')) texts.set(item_id, (texts.get(item_id) ?? '') + delta)
  }
  for (const item of response.output) {
    const whole = item.arguments ?? item.content[0].text
    if (texts.get(item.id) !== whole) throw new Error(`the deltas of ${item.id} are not ${whole}`)
    const closed = events.find(({ type, item: one }) => type === 'response.output_item.done' && one.id === item.id)
    if (JSON.stringify(closed?.item) !== JSON.stringify(item)) throw new Error(`${item.id} is not closed as it is`)
  }
  return response
}
