import type { ToolCallMessage } from './types.js'

export interface ParsedAnswer {
  /** The text outside of tool calls. */
  content: string
  calls: ToolCallMessage[]
}

const block = /<tool_call>\s*([\s\S]*?)\s*(?:<\/tool_call>|$)/g

/**
 * Tool calls as Qwen and Hermes models write them: `<tool_call>{"name": …, "arguments": {…}}</tool_call>`. A block that
 * is not such JSON stays text: what the model wrote is never lost.
 */
export function parseToolCalls(text: string, idOf: (index: number) => string): ParsedAnswer {
  const calls: ToolCallMessage[] = []
  const content = text.replace(block, (whole, body: string) => {
    const parsed = readCall(body)
    if (!parsed) return whole
    calls.push({ id: idOf(calls.length), type: 'function', function: parsed })
    return ''
  })
  return { content: calls.length > 0 ? content.trim() : text, calls }
}

function readCall(body: string): ToolCallMessage['function'] | undefined {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const { name, arguments: given, parameters } = value as Record<string, unknown>
  if (typeof name !== 'string') return undefined
  const args = given ?? parameters ?? {}
  return { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) }
}
