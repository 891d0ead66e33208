import { TrinityError } from '../../base/error.js'
import { jsonIn } from '../../base/json-text.js'
import type { Experience } from '../../experience/index.js'
import type { ChatMessage } from '../../model/index.js'
import { toolCallReward } from '../../reward/tool-call.js'
import type { DataRow } from '../../task/index.js'
import type { RewardScores } from '../reward.js'
import { SimpleWorkflow } from '../simple.js'
import { noArgs } from '../workflow-args.js'
import { toolPrompt } from './prompts.js'

/** How data sets call those who speak. */
const ROLES: Readonly<Record<string, string>> = {
  ...{ system: 'system', human: 'user', user: 'user', gpt: 'assistant', assistant: 'assistant' },
  ...{
    function_call: 'assistant',
    tool_call: 'assistant',
    observation: 'tool',
    function_response: 'tool',
    tool: 'tool',
  },
}

/** A conversation in which the next thing to do is to call tools (Tool-N1): exactly the calls of the row earn 1. */
export class ToolCallWorkflow extends SimpleWorkflow {
  static override readonly doc: string = "one turn with tools: 1 for exactly the calls of the row's answer, else 0"
  static override readonly args = noArgs
  /** Its columns have names of their own. */
  static override readonly reads: readonly ('prompt' | 'reward')[] = []

  override messages(): ChatMessage[] {
    const { raw } = this.task
    const { raw_system: system = '' } = raw
    const rules = toolPrompt(toolsOf(raw).map((tool) => JSON.stringify(tool)))
    return [{ role: 'system', content: `${system ?? ''}${rules}` }, ...conversationOf(raw)]
  }

  override reward({ responseText = '' }: Experience): RewardScores {
    const { raw, truth } = this.task
    const expected = raw.answer ?? truth
    if (expected === undefined || expected === null)
      throw wrong('answer', 'the calls that are expected, a list or JSON')
    return { score: toolCallReward(responseText, expected) }
  }
}

/** Each as `{ type: 'function', function: … }`. */
function toolsOf({ tools }: DataRow): object[] {
  const list = typeof tools === 'string' ? jsonIn(tools) : tools
  if (!Array.isArray(list) || !list.every(isObject)) throw wrong('tools', 'a list of tools, or JSON of one')
  return list.map((tool) => (isObject(tool.function) ? tool : { type: 'function', function: tool }))
}

function conversationOf({ conversations }: DataRow): ChatMessage[] {
  const list = typeof conversations === 'string' ? jsonIn(conversations) : conversations
  const messages = (Array.isArray(list) ? list : []).map((said: unknown): ChatMessage | undefined => {
    if (!isObject(said)) return undefined
    const [role, content] = [ROLES[String(said.from ?? said.role)], said.value ?? said.content]
    if (role === undefined || content === undefined || content === null) return undefined
    return { role, content: typeof content === 'string' ? content : JSON.stringify(content) }
  })
  if (messages.length === 0 || messages.includes(undefined)) {
    throw wrong('conversations', "a list of { from: 'human' | 'gpt' | 'function_call' | 'observation', value: … }")
  }
  return messages as ChatMessage[]
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

function wrong(column: string, expected: string): TrinityError {
  return new TrinityError('task/column', `the row has no usable column '${column}'`, {
    path: column,
    hint: `tool calls need ${column}: ${expected}`,
  })
}
