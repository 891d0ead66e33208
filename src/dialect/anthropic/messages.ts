import type { ChatMessage } from '../../model/index.js'
import type { Wire } from '../dialect.js'
import type { RequestNotes } from '../request-notes.js'
import { toolResultText } from '../tool-result.js'
import { joinTurns } from '../turns.js'
import { contentText, partText, unsupported, wireObject, wireText } from '../wire.js'

export const TEXT = { text: 'text' }
const ROLES = ['user', 'assistant', 'system']

/** The messages of the wire in our form, behind those that came before. */
export function readMessages(
  before: readonly ChatMessage[],
  given: readonly unknown[],
  notes: RequestNotes,
): ChatMessage[] {
  return joinTurns([
    ...before,
    ...given.flatMap((one, i) => readMessage(wireObject(one, `messages[${i}]`), `messages[${i}]`, notes)),
  ])
}

function readMessage({ role, content }: Wire, path: string, notes: RequestNotes): ChatMessage[] {
  if (typeof role !== 'string' || !ROLES.includes(role)) {
    throw unsupported(`${path}.role`, `the role ${JSON.stringify(role)}`, `use ${ROLES.join(', ')}`)
  }
  if (role === 'assistant') notes.passAnswer()
  if (typeof content === 'string' || !Array.isArray(content) || role === 'system') {
    return [{ role, content: contentText(content, `${path}.content`, TEXT, '\n') }]
  }
  const blocks = content.map((block, i): [Wire, string] => {
    const at = `${path}.content[${i}]`
    return [wireObject(block, at), at]
  })
  return role === 'assistant' ? [assistantMessage(blocks)] : userMessages(blocks, notes)
}

function assistantMessage(blocks: readonly [Wire, string][]): ChatMessage {
  let text = ''
  let reasoning = ''
  const calls: NonNullable<ChatMessage['tool_calls']>[number][] = []
  for (const [block, path] of blocks) {
    if (block.type === 'text') text += wireText(block.text, `${path}.text`)
    else if (block.type === 'thinking') reasoning += wireText(block.thinking, `${path}.thinking`)
    else if (block.type === 'tool_use') {
      const name = wireText(block.name, `${path}.name`)
      const input = JSON.stringify(wireObject(block.input ?? {}, `${path}.input`))
      calls.push({ id: wireText(block.id, `${path}.id`), type: 'function', function: { name, arguments: input } })
    } else if (block.type !== 'redacted_thinking')
      throw unsupported(path, `a block of type ${JSON.stringify(block.type)}`)
  }
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
  }
}

/** Results of tools are messages of their own; texts between them stay together. */
function userMessages(blocks: readonly [Wire, string][], notes: RequestNotes): ChatMessage[] {
  const messages: { role: string; content: string; [key: string]: unknown }[] = []
  for (const [block, path] of blocks) {
    if (block.type === 'tool_result') {
      const content = toolResultText(block.content ?? '', `${path}.content`, TEXT, notes)
      messages.push({ role: 'tool', tool_call_id: wireText(block.tool_use_id, `${path}.tool_use_id`), content })
      continue
    }
    const text = partText(block, path, TEXT)
    const last = messages.at(-1)
    if (last?.role === 'user') last.content += `\n${text}`
    else messages.push({ role: 'user', content: text })
  }
  return messages
}
