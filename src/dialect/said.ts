import { canonicalJson } from '../base/canonical-json.js'
import { isJsonObject } from '../base/file/json-file.js'
import { parseJsonText } from '../base/json-text.js'
import type { ChatMessage } from '../model/index.js'
import type { Answer, Call } from './answer.js'
import type { Answered, ChatModel, Said } from './chat-model.js'
import type { Head } from './dialect.js'

/** An assistant's message in our form, which is that of the OpenAI chat API. */
export interface AssistantMessage extends ChatMessage {
  readonly role: 'assistant'
  readonly content: string | null
  readonly tool_calls?: readonly ToolCallMessage[]
  /** Where `reasoning_parser` is set. */
  readonly reasoning_content?: string
}

export interface ToolCallMessage {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
  readonly [key: string]: unknown
}

export function toolCallMessage({ id, ...called }: Call): ToolCallMessage {
  return { id, type: 'function', function: called }
}

export function messageOf({ text, calls, reasoning }: Answer): AssistantMessage {
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(calls.length > 0 ? { tool_calls: calls.map(toolCallMessage) } : {}),
    ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
  }
}

/** Notes in an experience what became of it, and tells the model how its answer reads, also behind a text it went on from. */
export function tell(
  model: ChatModel,
  head: Head,
  { experience, raw }: Answered,
  answer: Answer,
  before?: ChatMessage,
): void {
  const message = messageOf(answer)
  experience.info.completion_id = head.id
  if (experience.messages) experience.messages = [...experience.messages.slice(0, -1), message]
  model.remember(message, raw)
  if (before?.role !== 'assistant' || typeof before.content !== 'string') return
  model.remember({ ...message, content: before.content + (message.content ?? '') }, before.content + raw)
}

/**
 * What an assistant's message is recognized by when a client sends it back, the surest first. Clients rewrite what they
 * saw: they print arguments anew, add names, send "" for null, leave reasoning out, cut messages into parts.
 */
export function keysOf({ content, tool_calls: calls }: Said): string[] {
  const text = textOf(content).trim()
  if (!Array.isArray(calls) || calls.length === 0) return [JSON.stringify([text])]
  const named = calls.map((call) => [nameOf(call), argumentsOf(call)])
  const ids = calls.map((call) => (isJsonObject(call) ? call.id : undefined))
  const bare = JSON.stringify([text, named])
  return ids.every((id) => typeof id === 'string') ? [JSON.stringify([text, named, ids]), bare] : [bare]
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part) => (isJsonObject(part) && typeof part.text === 'string' ? part.text : '')).join('')
}

function nameOf(call: unknown): unknown {
  return isJsonObject(call) && isJsonObject(call.function) ? call.function.name : undefined
}

function argumentsOf(call: unknown): string {
  const given = isJsonObject(call) && isJsonObject(call.function) ? call.function.arguments : undefined
  if (typeof given !== 'string') return canonicalJson(given)
  try {
    return canonicalJson(parseJsonText(given))
  } catch {
    return given
  }
}
