import type { ChatMessage } from '../../model/index.js'
import type { Recall, Wire } from '../dialect.js'
import type { RequestNotes } from '../request-notes.js'
import { toolResultText } from '../tool-result.js'
import { contentText, unsupported, wireObject, wireText } from '../wire.js'
import { itemOf } from './item-ids.js'
import { flatName, inputArguments } from './tools.js'

const TEXT = { input_text: 'text', output_text: 'text', text: 'text', refusal: 'refusal' }
const REASONING = { reasoning_text: 'text', summary_text: 'text' }
const ROLES = ['system', 'developer', 'user', 'assistant']

interface ItemContext {
  readonly recall: Recall
  readonly notes: RequestNotes
}

type Reader = (item: Wire, path: string, context: ItemContext) => ChatMessage

const READERS: Readonly<Record<string, Reader>> = {
  message: readMessage,
  function_call: (item, path) => callMessage(item, path, wireText(item.arguments, `${path}.arguments`)),
  custom_tool_call: (item, path) => callMessage(item, path, inputArguments(wireText(item.input, `${path}.input`))),
  function_call_output: readResult,
  custom_tool_call_output: readResult,
  reasoning: (item, path) => {
    const key = Array.isArray(item.content) && item.content.length > 0 ? 'content' : 'summary'
    const reasoning_content = contentText(item[key] ?? [], `${path}.${key}`, REASONING, '')
    return { role: 'assistant', content: '', reasoning_content }
  },
  item_reference: (item, path, { recall }) => {
    const id = wireText(item.id, `${path}.id`)
    const found = itemOf(id, recall)
    if (found) return found
    throw unsupported(`${path}.id`, `an item that is not kept (${id})`, 'send the item itself')
  },
}

/** Items of an input as messages. What one turn of the model became is put together by who calls this. */
export function readItems(items: readonly unknown[], context: ItemContext): ChatMessage[] {
  return items.map((given, i) => {
    const path = `input[${i}]`
    const item = wireObject(given, path)
    const type = item.type ?? 'message'
    const reader = typeof type === 'string' && Object.hasOwn(READERS, type) ? READERS[type] : undefined
    if (!reader) throw unsupported(path, `an item of type ${JSON.stringify(type)}`, 'use messages and function calls')
    const message = reader(item, path, context)
    if (message.role === 'assistant') context.notes.passAnswer()
    return message
  })
}

function callMessage(item: Wire, path: string, args: string): ChatMessage {
  const [id, bare] = ['call_id', 'name'].map((key) => wireText(item[key], `${path}.${key}`))
  const name = flatName(item.namespace, bare, path)
  return {
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name, arguments: args } }],
  }
}

function readResult(item: Wire, path: string, { notes }: ItemContext): ChatMessage {
  return {
    role: 'tool',
    tool_call_id: wireText(item.call_id, `${path}.call_id`),
    content: toolResultText(item.output, `${path}.output`, TEXT, notes),
  }
}

function readMessage({ role, content }: Wire, path: string): ChatMessage {
  if (typeof role !== 'string' || !ROLES.includes(role)) {
    throw unsupported(`${path}.role`, `the role ${JSON.stringify(role)}`, `use ${ROLES.join(', ')}`)
  }
  const text = contentText(content, `${path}.content`, TEXT, role === 'assistant' ? '' : '\n')
  return { role: role === 'developer' ? 'system' : role, content: text }
}
