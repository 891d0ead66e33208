import { z } from 'zod'
import type { ChatMessage } from '../../model/index.js'
import type { ChatArgs } from '../chat-args.js'
import type { Wire } from '../dialect.js'
import { RequestNotes } from '../request-notes.js'
import { picked, samplingArgs, samplingShape, silentShape, thinkingShape } from '../sampling-schema.js'
import { toolResultText } from '../tool-result.js'
import { allowedTools, namedFunction, toolArgs } from '../tools.js'
import { contentText, readBody, unsupported, wireList, wireObject, wireText } from '../wire.js'
import { effortArgs } from './effort.js'
import type { CompletionRequest } from './types.js'

const SCHEMA = z.object({
  ...silentShape,
  ...samplingShape,
  ...thinkingShape,
  messages: z.array(z.unknown()).min(1),
  max_tokens: z.int().min(1).optional(),
  max_completion_tokens: z.int().min(1).optional(),
  logprobs: z.boolean().optional(),
  top_logprobs: z.int().min(0).max(20).optional(),
  tools: z.array(z.unknown()).optional(),
  tool_choice: z.union([z.string(), z.looseObject({ type: z.enum(['function', 'allowed_tools']) })]).optional(),
  parallel_tool_calls: z.boolean().optional(),
  reasoning_effort: z.string().optional(),
  return_token_ids: z.boolean().optional(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).optional(),
  // understood only where they ask for nothing
  modalities: z.array(z.literal('text')).optional(),
  functions: z.array(z.unknown()).max(0, "an older form: describe functions in 'tools'").optional(),
  function_call: z.enum(['auto', 'none'], { error: "an older form: use 'tools' and 'tool_choice'" }).optional(),
  add_generation_prompt: z.literal(true).optional(),
  verbosity: z.unknown().optional(),
  prediction: z.unknown().optional(),
})

/** What a request of the OpenAI chat API asks for. */
export interface ChatRequest {
  readonly messages: readonly ChatMessage[]
  readonly args: ChatArgs
  readonly stream: boolean
  readonly usage: boolean
  readonly logprobs: boolean
  readonly tokenIds: boolean
  readonly notes: RequestNotes
}

/** Reads the body of a chat completion. Throws if it asks for what cannot be done. */
export function readRequest(body: Wire | CompletionRequest): ChatRequest {
  const notes = new RequestNotes()
  const given = readBody(SCHEMA, body, notes)
  const args: Record<string, unknown> = {
    ...samplingArgs(given),
    ...picked(given, thinkingShape),
    ...effortArgs(given.reasoning_effort, given.chat_template_kwargs),
    ...toolArgs(given.tools ?? [], choiceOf(given.tool_choice), notes),
    ...picked(given, { parallel_tool_calls: true }),
  }
  const most = given.max_completion_tokens ?? given.max_tokens
  if (most !== undefined) args.max_tokens = most
  if (given.logprobs && given.top_logprobs) args.logprobs = given.top_logprobs
  return {
    messages: given.messages.map((message, i) => readMessage(message, `messages[${i}]`, notes)),
    args: args as ChatArgs,
    stream: given.stream ?? false,
    usage: given.stream_options?.include_usage ?? false,
    logprobs: given.logprobs ?? false,
    tokenIds: given.return_token_ids ?? false,
    notes,
  }
}

function choiceOf(choice: z.output<typeof SCHEMA>['tool_choice']): unknown {
  if (typeof choice !== 'object' || choice.type !== 'allowed_tools') return choice
  const path = 'tool_choice.allowed_tools'
  return allowedTools(wireObject(choice.allowed_tools, path), path, namedFunction)
}

const TEXT = { text: 'text', refusal: 'refusal' }
const ROLES = ['system', 'user', 'assistant', 'tool']
const NOT_READ = { audio: undefined, function_call: "use 'tool_calls'" }

function readMessage(given: unknown, path: string, notes: RequestNotes): ChatMessage {
  const message = wireObject(given, path)
  // an older and a newer name of the same
  const role = message.role === 'developer' ? 'system' : message.role
  if (typeof role !== 'string' || !ROLES.includes(role)) {
    throw unsupported(`${path}.role`, `the role ${JSON.stringify(role)}`, `use ${ROLES.join(', ')}`)
  }
  for (const [key, hint] of Object.entries(NOT_READ)) {
    if (message[key] !== undefined && message[key] !== null) throw unsupported(`${path}.${key}`, `'${key}'`, hint)
  }
  if (role === 'tool') {
    return { ...message, role, content: toolResultText(message.content, `${path}.content`, TEXT, notes) }
  }
  if (role !== 'assistant') {
    return { ...message, role, content: contentText(message.content, `${path}.content`, TEXT, '\n') }
  }
  notes.passAnswer()
  const { content = null, tool_calls } = message
  const calls = wireList(tool_calls ?? [], `${path}.tool_calls`).map((call, i) => {
    return readCall(call, `${path}.tool_calls[${i}]`)
  })
  if (content === null && calls.length === 0 && !message.reasoning_content) {
    throw unsupported(`${path}.content`, 'an empty message', 'give content or tool_calls')
  }
  const text = content === null ? null : contentText(content, `${path}.content`, TEXT, '')
  const { tool_calls: _, ...rest } = message
  return { ...rest, role, content: text, ...(calls.length > 0 ? { tool_calls: calls } : {}) }
}

function readCall(given: unknown, path: string): NonNullable<ChatMessage['tool_calls']>[number] {
  const call = wireObject(given, path)
  if ((call.type ?? 'function') !== 'function') throw unsupported(path, `a call of type ${JSON.stringify(call.type)}`)
  const called = wireObject(call.function, `${path}.function`)
  const name = wireText(called.name, `${path}.function.name`)
  // some clients give the object instead of its text
  const args = typeof called.arguments === 'string' ? called.arguments : JSON.stringify(called.arguments ?? {})
  return { ...call, function: { ...called, name, arguments: args } }
}
