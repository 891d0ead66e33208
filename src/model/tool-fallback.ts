import type { ChatMessage } from './chat-template.js'
import { Template } from './python-jinja/index.js'

/** Renders messages with a chat template; throws if the template refuses them. */
type Render = (messages: readonly ChatMessage[], options: { tools?: readonly unknown[] }) => string

/** Parts of a chat with tools that a chat template may leave out of its text. */
export type ToolPart = 'tools' | 'tool calls' | 'tool results'

/** Tools as the templates of Qwen2.5 and Hermes describe them, behind the system message. */
const TOOLS = new Template(`# Tools

You may call one or more functions to assist with the user query.

You are provided with function signatures within <tools></tools> XML tags:
<tools>
{% for tool in tools %}{{ tool | tojson }}
{% endfor %}</tools>

For each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call>`)

const CALL = new Template(`<tool_call>
{"name": {{ call.name | tojson }}, "arguments": {{ call.arguments | tojson }}}
</tool_call>`)

/**
 * Text form of tools, their calls and their results for chat templates that have no place for them: that of Hermes and
 * Qwen2.5, which `parseToolCalls` reads. The form depends on the template, the messages and the tools only, so that a
 * later turn begins with the text of the earlier one.
 */
export class ToolFallback {
  /** Parts that the template leaves out; all that it refuses if it has no tools. */
  readonly missing: ReadonlySet<ToolPart>
  /** The template writes a system message. */
  readonly #takesSystem: boolean

  /** Renders short chats with and without tools to find out what the template leaves out. */
  constructor(render: Render) {
    this.missing = missingParts(render)
    this.#takesSystem = this.missing.size > 0 && find(render, [], 'probe_system') === 'shown'
  }

  /** Returns the messages with the missing parts as text; the same array if there are none. */
  write(messages: readonly ChatMessage[], tools: readonly unknown[] = []): readonly ChatMessage[] {
    const describes = tools.length > 0 && this.missing.has('tools')
    // calls and results in the form that the description asks for
    const writesCalls = describes || this.missing.has('tool calls')
    const writesResults = describes || this.missing.has('tool results')
    const isCall = (message: ChatMessage) => writesCalls && hasCalls(message)
    const isResult = (message: ChatMessage) => writesResults && message.role === 'tool'
    if (!describes && !messages.some((one) => isCall(one) || isResult(one))) return messages
    const written: ChatMessage[] = []
    let isResultTurn = false
    for (const message of messages) {
      const last = written.at(-1)
      const result = isResult(message)
      // templates that take user and assistant in turn only refuse two user messages in a row
      const earlier: ChatMessage | undefined =
        last?.role === 'user' && (result || (isResultTurn && message.role === 'user')) ? last : undefined
      const content = result ? join('\n', '<tool_response>', message.content, '</tool_response>') : message.content
      if (earlier) {
        const whole = join(result && isResultTurn ? '\n' : '\n\n', earlier.content, content)
        written[written.length - 1] = { ...earlier, content: whole }
      } else if (result) written.push({ role: 'user', content })
      else written.push(isCall(message) ? withCallText(message) : message)
      isResultTurn = result || (earlier !== undefined && isResultTurn)
    }
    return describes ? this.#describe(written, tools) : written
  }

  /** Adds the tools to the system message, or to the first user message if the template takes no system message. */
  #describe(messages: readonly ChatMessage[], tools: readonly unknown[]): ChatMessage[] {
    const text = TOOLS.render({ tools })
    const role = this.#takesSystem ? 'system' : 'user'
    const at = this.#takesSystem ? 0 : messages.findIndex((message) => message.role === 'user')
    const message = messages[at]
    if (message?.role !== role) return [{ role, content: text }, ...messages]
    const parts = this.#takesSystem ? [message.content, text] : [text, message.content]
    const content = join('\n\n', ...parts)
    return messages.map((one, i) => (i === at ? { ...one, content } : one))
  }
}

export function hasToolParts(message: ChatMessage): boolean {
  return message.role === 'tool' || hasCalls(message)
}

function hasCalls({ tool_calls: calls }: ChatMessage): boolean {
  return Array.isArray(calls) && calls.length > 0
}

function withCallText({ tool_calls: calls = [], ...message }: ChatMessage): ChatMessage {
  const texts = calls.map((call) => CALL.render({ call: call.function ?? call }))
  return { ...message, content: join('\n', message.content, ...texts) }
}

type Content = ChatMessage['content']

/** Joins contents with a separator, leaving out empty ones; one that is a list of parts makes the whole a list. */
function join(separator: string, ...contents: readonly Content[]): Content {
  const all = contents.filter((one) => one !== undefined && one !== null && one.length > 0)
  if (all.every((one) => typeof one === 'string')) return all.join(separator)
  const text = (one: string) => ({ type: 'text', text: one })
  return all.flatMap((one, i) => [
    ...(i === 0 ? [] : [text(separator)]),
    ...(typeof one === 'string' ? [text(one)] : (one as readonly unknown[])),
  ])
}

const SYSTEM: ChatMessage = { role: 'system', content: 'probe_system' }
const USER: ChatMessage = { role: 'user', content: 'probe_user' }
const PARAMETERS = { value: { type: 'string', description: 'probe_description' } }
const TOOL = {
  type: 'function',
  function: {
    name: 'probe_tool',
    description: 'probe_description',
    parameters: { type: 'object', properties: PARAMETERS, required: ['value'] },
  },
}
// ids of nine letters and digits: templates of Mistral refuse others
const CALLING: ChatMessage = {
  role: 'assistant',
  content: '',
  tool_calls: [{ id: 'probe0001', type: 'function', function: { name: 'probe_call', arguments: { value: 'probe' } } }],
}
const RESULT: ChatMessage = { role: 'tool', tool_call_id: 'probe0001', name: 'probe_name', content: 'probe_result' }

function missingParts(render: Render): Set<ToolPart> {
  const missing = new Set<ToolPart>()
  if (find(render, [], 'probe_tool', [TOOL]) === 'left out') missing.add('tools')
  const hasTools = !missing.has('tools')
  const tools = hasTools ? [TOOL] : undefined
  // a template that has tools and refuses a call or a result reports why by itself
  const isMissing = (found: Found) => found === 'left out' || (found === 'refused' && !hasTools)
  const alone = find(render, [CALLING], 'probe_call', tools)
  const call = alone === 'shown' ? alone : find(render, [CALLING, RESULT], 'probe_call', tools)
  if (isMissing(call)) missing.add('tool calls')
  if (isMissing(find(render, [CALLING, RESULT], 'probe_result', tools))) missing.add('tool results')
  return missing
}

type Found = 'shown' | 'left out' | 'refused'

/** Renders a short chat that ends with these messages and looks for a word of theirs. */
function find(render: Render, tail: readonly ChatMessage[], word: string, tools?: readonly unknown[]): Found {
  let found: Found = 'refused'
  // some templates need a system message, others refuse it
  for (const head of [[USER], [SYSTEM, USER]]) {
    try {
      if (render([...head, ...tail], { tools }).includes(word)) return 'shown'
      found = 'left out'
    } catch {
      // refused
    }
  }
  return found
}
