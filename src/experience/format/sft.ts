import { commonPrefix } from '../../base/common-prefix.js'
import { TrinityError } from '../../base/error.js'
import type { FormatConfig, Given } from '../../config/index.js'
import { columnOf } from '../../task/column.js'
import type { DataMessage } from '../../task/messages.js'
import { messagesOf, promptMessages, rowError, textOf, toolsOf } from '../../task/messages.js'
import type { ChatCoder } from './chat-coder.js'
import type { Format, FormatterType } from './formatter.js'
import { type Sequence, sequenceExperience } from './sequence.js'

/** The last message is learned, everything before it is the prompt. */
function lastTurn(
  messages: DataMessage[],
  tools: Sequence['tools'],
  format: Given<FormatConfig>,
  coder: ChatCoder,
): Sequence {
  const options = { tools, enableThinking: format.enable_thinking ?? undefined }
  const tokens = coder.encode(messages, options)
  if (messages.length === 1) throw rowError('there is only one message: an answer needs something before it')
  const prompt = coder.encode(messages.slice(0, -1), { ...options, addGenerationPrompt: true })
  // A template may write a turn differently once the next one follows; the part in common is the prompt.
  return { tokens, promptLength: commonPrefix(prompt, tokens), messages, tools }
}

/** One sequence in which every assistant turn is learned. */
function everyTurn(
  messages: DataMessage[],
  tools: Sequence['tools'],
  format: Given<FormatConfig>,
  coder: ChatCoder,
): Sequence {
  const options = { tools, enableThinking: format.enable_thinking ?? undefined }
  const { tokens, mask, promptLength, divergences } = coder.encodeWithMask(messages, options)
  if (!mask.includes(1)) throw rowError('no assistant turn could be found in the rendered conversation')
  // The first token of a sequence is predicted by nothing: it cannot be learned.
  const start = Math.max(1, promptLength)
  return { tokens, promptLength: start, mask: mask.subarray(start), messages, tools, divergences: divergences?.length }
}

function create(format: Given<FormatConfig>, coder: ChatCoder): Format {
  const type = format.prompt_type ?? 'messages'
  if (type !== 'messages' && type !== 'plaintext') {
    throw new TrinityError('task/format', `prompt_type is '${type}'`, {
      path: 'format.prompt_type',
      hint: 'messages or plaintext',
    })
  }
  const turns = format.enable_concatenated_multi_turn ? everyTurn : lastTurn
  return (row) => {
    const tools = toolsOf(row, format.tools_key ?? 'tools')
    let messages: DataMessage[]
    if (type === 'messages') {
      const key = format.messages_key ?? 'message'
      messages = messagesOf(columnOf(row, key), key, row)
    } else {
      const answer = textOf(row, format.response_key ?? 'response', 'response')
      messages = [...promptMessages(row, format), { role: 'assistant', content: answer }]
    }
    if (messages.at(-1)?.role !== 'assistant' && !format.enable_concatenated_multi_turn) {
      throw rowError(`the last message is from '${messages.at(-1)?.role}', not from the assistant`)
    }
    return sequenceExperience(turns(messages, tools, format, coder), coder)
  }
}

export const sft: FormatterType = { doc: 'answers to imitate: prompt and response, or conversations', create }
