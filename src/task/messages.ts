import { TrinityError } from '../base/error.js'
import type { FormatConfig, Given } from '../config/index.js'
import { columnOf } from './column.js'
import { parseJson } from './source/exact-json.js'
import type { DataRow } from './source/row-source.js'
import { utf8Text } from './source/utf8.js'

/** A message as data sets hold it, its content text, a list of parts, or absent. */
export interface DataMessage {
  role: string
  content?: string | null | readonly unknown[]
  [field: string]: unknown
}

/** How ShareGPT-like data call the roles. */
const SHARE_GPT: Record<string, string> = { human: 'user', gpt: 'assistant', observation: 'tool' }

export function rowError(message: string, hint?: string): TrinityError {
  return new TrinityError('task/row', message, { hint })
}

/** A text column; `what` says what it is for. */
export function textOf(row: DataRow, key: string, what: string): string {
  const value = columnOf(row, key)
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (value instanceof Uint8Array) return bytesText(value, key)
  if (value === null) throw rowError(`the row has no ${what}: the column '${key}' is empty`)
  if (value === undefined) {
    throw rowError(`the row has no ${what}: no column '${key}'`, `columns: ${Object.keys(row).join(', ')}`)
  }
  throw rowError(`the column '${key}' must hold the ${what} as text, not ${kindOf(value)}`)
}

function bytesText(bytes: Uint8Array, key: string): string {
  try {
    return utf8Text(bytes)
  } catch (error) {
    throw new TrinityError('task/row', `the column '${key}' holds bytes that are not UTF-8 text`, { cause: error })
  }
}

/** A list of messages, or the same as JSON text. */
export function messagesOf(value: unknown, key: string, row: DataRow): DataMessage[] {
  if (value === undefined || value === null) {
    throw rowError(`the row has no messages: no column '${key}'`, `columns: ${Object.keys(row).join(', ')}`)
  }
  const list = typeof value === 'string' ? json(value, key) : value
  if (!Array.isArray(list) || list.length === 0) {
    throw rowError(`the column '${key}' must hold a list of messages, not ${kindOf(list)}`)
  }
  return list.map((message, i) => normal(message, `${key}[${i}]`))
}

/** Tools as a list, or as JSON text. */
export function toolsOf(row: DataRow, key: string): Record<string, unknown>[] | undefined {
  const value = columnOf(row, key)
  if (value === undefined || value === null || value === '') return undefined
  const list = typeof value === 'string' ? json(value, key) : value
  if (!Array.isArray(list)) throw rowError(`the column '${key}' must hold a list of tools, not ${kindOf(list)}`)
  return list.length > 0 ? (list as Record<string, unknown>[]) : undefined
}

/** System and user message of a row with plain text columns. */
export function promptMessages(row: DataRow, format: Given<FormatConfig>): DataMessage[] {
  const system =
    (format.system_prompt_key ? columnOf(row, format.system_prompt_key) : undefined) ?? format.system_prompt
  const messages: DataMessage[] = [{ role: 'user', content: textOf(row, format.prompt_key ?? 'prompt', 'prompt') }]
  if (system) messages.unshift({ role: 'system', content: String(system) })
  return messages
}

function normal(message: unknown, where: string): DataMessage[][number] {
  if (message === null || typeof message !== 'object' || Array.isArray(message)) {
    throw rowError(`${where} is not a message but ${kindOf(message)}`)
  }
  const { from, value, ...given } = message as Record<string, unknown>
  const rest = 'role' in given ? (message as Record<string, unknown>) : { ...given, role: from, content: value }
  if (typeof rest.role !== 'string') throw rowError(`${where} has no role`)
  const { content } = rest
  return { ...rest, role: SHARE_GPT[rest.role] ?? rest.role, content: plainContent(content as DataMessage['content']) }
}

/** Parts that are all text become the text, which every template understands. */
function plainContent(content: DataMessage['content']): DataMessage['content'] {
  if (!Array.isArray(content)) return content
  const texts = content.map((part: { type?: string; text?: unknown; value?: unknown }) =>
    part?.type === 'text' ? (part.text ?? part.value) : undefined,
  )
  return texts.every((text) => typeof text === 'string') ? texts.join('') : content
}

function json(text: string, key: string): unknown {
  try {
    return parseJson(text)
  } catch (error) {
    throw new TrinityError('task/row', `the column '${key}' holds text that is not JSON`, { cause: error })
  }
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
