import { commonPrefix } from '../../base/common-prefix.js'
import { TrinityError } from '../../base/error.js'
import type { FormatConfig, Given } from '../../config/index.js'
import { createExperience } from '../../experience/create.js'
import type { Experience } from '../../experience/experience.js'
import { columnOf } from '../../task/column.js'
import type { DataMessage } from '../../task/messages.js'
import { messagesOf, promptMessages, rowError, textOf, toolsOf } from '../../task/messages.js'
import type { DataRow } from '../../task/source/row-source.js'
import type { ChatCoder } from './chat-coder.js'
import type { Format, FormatterType } from './formatter.js'

interface Pair {
  prompt: DataMessage[]
  chosen: DataMessage[]
  rejected: DataMessage[]
}

function plainPair(row: DataRow, format: Given<FormatConfig>): Pair {
  const answer = (key: string, what: string): DataMessage[] => [{ role: 'assistant', content: textOf(row, key, what) }]
  return {
    prompt: promptMessages(row, format),
    chosen: answer(format.chosen_key ?? 'chosen', 'chosen answer'),
    rejected: answer(format.rejected_key ?? 'rejected', 'rejected answer'),
  }
}

/** Prompt messages and answers; both answers may be whole conversations that begin alike, with or without a prompt beside. */
function messagePair(row: DataRow, format: Given<FormatConfig>): Pair {
  const answer = (key: string): DataMessage[] => {
    const value = columnOf(row, key)
    if (typeof value === 'string' && !/^\s*\[/.test(value)) return [{ role: 'assistant', content: value }]
    return messagesOf(value !== null && typeof value === 'object' && !Array.isArray(value) ? [value] : value, key, row)
  }
  const chosen = answer(format.chosen_key ?? 'chosen')
  const rejected = answer(format.rejected_key ?? 'rejected')
  const key = [format.messages_key ?? 'message', format.prompt_key ?? 'prompt'].find(
    (name) => columnOf(row, name) != null,
  )
  if (key !== undefined) {
    const value = columnOf(row, key)
    const plain = typeof value === 'string' && !/^\s*\[/.test(value)
    const prompt = plain
      ? promptMessages({ ...row, [format.prompt_key ?? 'prompt']: value }, format)
      : messagesOf(value, key, row)
    const whole = [chosen, rejected].filter(beginsWithQuestion).length
    if (whole === 0) return { prompt, chosen, rejected }
    if (whole === 1) throw rowError('one answer is a whole conversation and the other is not')
    const pair = split(chosen, rejected)
    const system = prompt[0].role === 'system' && pair.prompt[0].role !== 'system' ? [prompt[0]] : []
    return { ...pair, prompt: [...system, ...pair.prompt] }
  }
  return split(chosen, rejected)
}

/** An answer begins with the assistant; a question in it means that it repeats the prompt. */
function beginsWithQuestion([first]: DataMessage[]): boolean {
  return first.role === 'user' || first.role === 'system'
}

/** Two whole conversations: what they have in common is the prompt. */
function split(chosen: DataMessage[], rejected: DataMessage[]): Pair {
  let same = 0
  const most = Math.min(chosen.length, rejected.length) - 1
  while (same < most && JSON.stringify(chosen[same]) === JSON.stringify(rejected[same])) same++
  if (same === 0) throw rowError('there is no prompt, and the two conversations do not begin alike')
  return { prompt: chosen.slice(0, same), chosen: chosen.slice(same), rejected: rejected.slice(same) }
}

function pairExperience(pair: Pair, row: DataRow, format: Given<FormatConfig>, coder: ChatCoder): Experience {
  const tools = toolsOf(row, format.tools_key ?? 'tools')
  const options = { tools, enableThinking: format.enable_thinking ?? undefined }
  const asked = coder.encode(pair.prompt, { ...options, addGenerationPrompt: true })
  const good = coder.encode([...pair.prompt, ...pair.chosen], options)
  const bad = coder.encode([...pair.prompt, ...pair.rejected], options)
  // Both answers must follow the same tokens, whatever the template does to a prompt that is followed by an answer.
  const length = Math.min(commonPrefix(asked, good), commonPrefix(asked, bad))
  if (good.length === length || bad.length === length) throw rowError('an answer of the pair has no tokens')
  if (length === 0) throw rowError('the prompt has no tokens')
  const tokens = asked.slice(0, length)
  const chosen = good.slice(length)
  return createExperience({
    type: 'dpo',
    tokens,
    chosen,
    rejected: bad.slice(length),
    messages: pair.prompt,
    tools,
    chosenMessages: pair.chosen,
    rejectedMessages: pair.rejected,
    promptText: coder.tokenizer.decode(tokens),
    responseText: coder.tokenizer.decode(chosen),
  })
}

function create(format: Given<FormatConfig>, coder: ChatCoder): Format {
  const type = format.prompt_type ?? 'messages'
  const pairOf = type === 'plaintext' ? plainPair : type === 'messages' ? messagePair : undefined
  if (pairOf) return (row) => pairExperience(pairOf(row, format), row, format, coder)
  throw new TrinityError('task/format', `prompt_type is '${type}'`, {
    path: 'format.prompt_type',
    hint: 'messages or plaintext',
  })
}

export const dpo: FormatterType = { doc: 'pairs of a chosen and a rejected answer to one prompt', create }
