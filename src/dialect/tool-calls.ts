import { AnswerReader } from './answer-reader.js'
import { type ToolCallMessage, toolCallMessage } from './said.js'

/** Text with the tool calls taken out of it. */
export interface ParsedAnswer {
  /** The text outside of tool calls. */
  content: string
  calls: ToolCallMessage[]
}

/**
 * Tool calls as Qwen and Hermes models write them: `<tool_call>{"name": …, "arguments": {…}}</tool_call>`. A block that
 * is not such JSON stays text.
 */
export function parseToolCalls(text: string, idOf: (index: number) => string): ParsedAnswer {
  const reader = new AnswerReader({ tools: true, reasoning: false, callId: (_, call) => idOf(call) }, 0)
  const parsed: ParsedAnswer = { content: '', calls: [] }
  for (const part of [...reader.push(text), ...reader.end()]) {
    if (part.type === 'call') parsed.calls.push(toolCallMessage(part.call))
    else parsed.content += part.text
  }
  return parsed
}
