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

const OPEN = '<tool_call>'

/**
 * Passes on text that is surely not part of a tool call, for streams: text is held back from the first `<tool_call>` on,
 * or while its end could be the beginning of one.
 */
export class ToolCallFilter {
  #held = ''
  #inside = false

  push(text: string): string {
    this.#held += text
    if (this.#inside) return ''
    const at = this.#held.indexOf(OPEN)
    if (at >= 0) {
      this.#inside = true
      return this.#release(at)
    }
    let keep = Math.min(OPEN.length - 1, this.#held.length)
    while (keep > 0 && !OPEN.startsWith(this.#held.slice(-keep))) keep--
    return this.#release(this.#held.length - keep)
  }

  /** What was held back. */
  end(): string {
    return this.#release(this.#held.length)
  }

  #release(count: number): string {
    const text = this.#held.slice(0, count)
    this.#held = this.#held.slice(count)
    return text
  }
}
