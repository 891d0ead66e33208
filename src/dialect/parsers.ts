import { TrinityError } from '../base/error.js'
import { nearest } from '../base/nearest.js'

/** `tool_call_parser` and `reasoning_parser` of an inference model. */
export interface Parsers {
  readonly toolCallParser?: string | null
  readonly reasoningParser?: string | null
}

/** Names under which files ask for calls as `<tool_call>{…}</tool_call>`. */
const TOOL_CALLS = ['hermes', 'qwen', 'qwen25', 'qwen3']
/** Names under which files ask for reasoning between think tags. */
const REASONING = ['deepseek_r1', 'qwen3', 'think']

/** Refuses formats that are not read here. Gives whether reasoning is taken out of the answer. */
export function checkParsers({ toolCallParser, reasoningParser }: Parsers, tools: boolean): boolean {
  if (tools && toolCallParser) check('tool_call_parser', toolCallParser, TOOL_CALLS)
  if (!reasoningParser) return false
  check('reasoning_parser', reasoningParser, REASONING)
  return true
}

function check(key: string, name: string, known: readonly string[]): void {
  if (known.includes(name)) return
  const near = nearest(name, known)
  throw new TrinityError('workflow/args', `${key} '${name}' is not known here`, {
    path: `explorer.rollout_model.${key}`,
    hint: near ? `did you mean '${near}'?` : `known: ${known.join(', ')}`,
  })
}

/** What stands before `</think>`, and the rest. Templates often put `<think>` into the prompt, so it may be missing. */
export function splitReasoning(text: string): { reasoning?: string; content: string } {
  const at = text.indexOf('</think>')
  if (at < 0) return { content: text }
  const reasoning = text
    .slice(0, at)
    .replace(/^\s*<think>/, '')
    .trim()
  return { reasoning, content: text.slice(at + '</think>'.length).trimStart() }
}
