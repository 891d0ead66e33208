import type { ChatMessage, Json, Rollout } from '../../src/studio/api.js'

/** What a message holds, part by part, in the order in which it is shown. */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thought'; readonly text: string }
  | { readonly kind: 'call'; readonly name: string; readonly text: string }
  | { readonly kind: 'other'; readonly name: string; readonly text: string }

export function partsOf(message: ChatMessage): Part[] {
  const thought = message.reasoning_content ?? message.reasoning
  const contents = Array.isArray(message.content) ? (message.content as readonly Json[]) : [message.content]
  const calls = Array.isArray(message.tool_calls) ? (message.tool_calls as readonly Json[]) : []
  return [
    ...(typeof thought === 'string' && thought !== '' ? [{ kind: 'thought' as const, text: thought }] : []),
    ...contents.flatMap(contentParts),
    ...calls.map(callPart),
  ]
}

function contentParts(content: Json | undefined): Part[] {
  if (content === undefined || content === null || content === '') return []
  if (typeof content === 'string') return thoughtAndText(content)
  if (isObject(content) && typeof content.text === 'string') return thoughtAndText(content.text)
  const name = isObject(content) && typeof content.type === 'string' ? content.type : 'content'
  return [{ kind: 'other', name, text: pretty(content) }]
}

/** Models that think aloud write it in front of the answer. */
function thoughtAndText(text: string): Part[] {
  const thought = /^\s*<think>([\s\S]*?)<\/think>\s*/.exec(text)
  if (thought === null) return [{ kind: 'text', text }]
  const rest = text.slice(thought[0].length)
  return [{ kind: 'thought', text: thought[1].trim() }, ...(rest === '' ? [] : [{ kind: 'text' as const, text: rest }])]
}

function callPart(call: Json): Part {
  const inner = isObject(call) && isObject(call.function) ? call.function : isObject(call) ? call : {}
  const name = typeof inner.name === 'string' ? inner.name : 'tool'
  return { kind: 'call', name, text: pretty(inner.arguments ?? inner) }
}

/** Arguments come as a JSON text; one that is broken is shown as the model wrote it. */
function pretty(value: Json): string {
  if (typeof value !== 'string') return JSON.stringify(value, null, 2)
  try {
    return JSON.stringify(JSON.parse(value), null, 2)
  } catch {
    return value
  }
}

const isObject = (value: Json | undefined): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The conversation; where only texts are on record, prompt and answer. The answer is added where the messages end before it. */
export function messagesOf({ messages, promptText, responseText }: Partial<Rollout>): readonly ChatMessage[] {
  const answer = responseText === undefined ? [] : [{ role: 'assistant', content: responseText }]
  if (messages === undefined || messages.length === 0)
    return [...(promptText === undefined ? [] : [{ role: 'prompt', content: promptText }]), ...answer]
  return messages.at(-1)!.role === 'assistant' || messages.some(({ role }) => role === 'assistant')
    ? messages
    : [...messages, ...answer]
}
