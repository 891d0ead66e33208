import type { ChatMessage } from '../../model/index.js'
import type { Recall, Wire } from '../dialect.js'
import { contentText, unsupported, wireObject, wireText } from '../wire.js'
import { itemOf } from './item-ids.js'

const TEXT = { input_text: 'text', output_text: 'text', text: 'text', refusal: 'refusal' }
const REASONING = { reasoning_text: 'text', summary_text: 'text' }
const ROLES = ['system', 'developer', 'user', 'assistant']

type Reader = (item: Wire, path: string, recall: Recall) => ChatMessage

const READERS: Readonly<Record<string, Reader>> = {
  message: readMessage,
  function_call: (item, path) => {
    const [id, name, args] = ['call_id', 'name', 'arguments'].map((key) => wireText(item[key], `${path}.${key}`))
    return {
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name, arguments: args } }],
    }
  },
  function_call_output: (item, path) => ({
    role: 'tool',
    tool_call_id: wireText(item.call_id, `${path}.call_id`),
    content: contentText(item.output, `${path}.output`, TEXT, '\n'),
  }),
  reasoning: (item, path) => {
    const key = Array.isArray(item.content) && item.content.length > 0 ? 'content' : 'summary'
    const reasoning_content = contentText(item[key] ?? [], `${path}.${key}`, REASONING, '')
    return { role: 'assistant', content: '', reasoning_content }
  },
  item_reference: (item, path, recall) => {
    const id = wireText(item.id, `${path}.id`)
    const found = itemOf(id, recall)
    if (found) return found
    throw unsupported(`${path}.id`, `an item that is not kept (${id})`, 'send the item itself')
  },
}

/** Items of an input as messages. What one turn of the model became is put together by who calls this. */
export function readItems(items: readonly unknown[], recall: Recall): ChatMessage[] {
  return items.map((given, i) => {
    const path = `input[${i}]`
    const item = wireObject(given, path)
    const type = item.type ?? 'message'
    const reader = typeof type === 'string' && Object.hasOwn(READERS, type) ? READERS[type] : undefined
    if (!reader) throw unsupported(path, `an item of type ${JSON.stringify(type)}`, 'use messages and function calls')
    return reader(item, path, recall)
  })
}

function readMessage({ role, content }: Wire, path: string): ChatMessage {
  if (typeof role !== 'string' || !ROLES.includes(role)) {
    throw unsupported(`${path}.role`, `the role ${JSON.stringify(role)}`, `use ${ROLES.join(', ')}`)
  }
  const text = contentText(content, `${path}.content`, TEXT, role === 'assistant' ? '' : '\n')
  return { role: role === 'developer' ? 'system' : role, content: text }
}
