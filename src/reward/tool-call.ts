import { canonicalJson } from '../base/canonical-json.js'
import { jsonIn } from '../base/json-text.js'
import { hasOneThinkPair } from './tags.js'

interface ToolCall {
  name: string
  arguments: unknown
}

/**
 * 1 when a response thinks first and then makes exactly the expected calls, in any order; else 0.
 * `expected` are the calls as a list, one object, or JSON of either.
 */
export function toolCallReward(response: string, expected: unknown): number {
  const first = response.indexOf('<tool_call>')
  const thought = response.indexOf('</think>')
  if (!hasOneThinkPair(response) || (first >= 0 && thought > first)) return 0
  const made = readCalls(lastCall(response))
  const wanted = readCalls(expected)
  if (made === undefined || wanted === undefined || made.length !== wanted.length) return 0
  const [a, b] = [made.map(canonicalCall).sort(), wanted.map(canonicalCall).sort()]
  return a.every((call, k) => call === b[k]) ? 1 : 0
}

/** The last block; an empty list when there is none. */
function lastCall(response: string): unknown {
  const close = response.lastIndexOf('</tool_call>')
  const open = close < 0 ? -1 : response.lastIndexOf('<tool_call>', close)
  return open < 0 ? [] : response.slice(open + '<tool_call>'.length, close)
}

function readCalls(value: unknown, depth = 0): ToolCall[] | undefined {
  if (typeof value === 'string') {
    return depth > 2 ? undefined : readCalls(jsonIn(value), depth + 1)
  }
  if (value === null || typeof value !== 'object') return undefined
  const list: unknown[] = Array.isArray(value) ? value : [value]
  return list.every(isCall) ? list : undefined
}

function isCall(value: unknown): value is ToolCall {
  if (value === null || typeof value !== 'object') return false
  return 'name' in value && typeof value.name === 'string' && 'arguments' in value
}

function canonicalCall(call: ToolCall): string {
  return `${call.name} ${canonicalJson(call.arguments)}`
}
