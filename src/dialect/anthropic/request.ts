import { z } from 'zod'
import { TrinityError } from '../../base/error.js'
import type { ChatMessage } from '../../model/index.js'
import type { ChatAsked } from '../asked.js'
import type { ChatArgs } from '../chat-args.js'
import type { Recall, Recalled, Wire } from '../dialect.js'
import { effortArgs } from '../openai/effort.js'
import { RequestNotes } from '../request-notes.js'
import { silentShape, stopStrings, temperature, topP } from '../sampling-schema.js'
import { dropTool, toolArgs } from '../tools.js'
import { contentText, readBody, unsupported, wireObject } from '../wire.js'
import { readMessages, TEXT } from './messages.js'

const SCHEMA = z.object({
  ...silentShape,
  messages: z.array(z.unknown()),
  max_tokens: z.int().min(1),
  system: z.unknown().optional(),
  temperature: temperature.optional(),
  top_p: topP.optional(),
  top_k: z.int().optional(),
  stop_sequences: stopStrings.optional(),
  tools: z.array(z.unknown()).optional(),
  tool_choice: z
    .object({
      type: z.enum(['auto', 'any', 'tool', 'none']),
      name: z.string().optional(),
      disable_parallel_tool_use: z.boolean().nullish(),
    })
    .optional(),
  thinking: z.looseObject({ type: z.enum(['enabled', 'disabled', 'adaptive']) }).optional(),
  output_config: z.strictObject({ effort: z.string().nullish(), format: z.unknown().optional() }).optional(),
  /** An older place of `output_config.format`. */
  output_format: z.unknown().optional(),
  thread: z
    .union([
      z.strictObject({ type: z.literal('create') }),
      z.strictObject({ type: z.literal('continue'), previous_message_id: z.string() }),
    ])
    .optional(),
  metadata: z.looseObject({ user_id: z.string().nullish() }).optional(),
  // say nothing about what is sampled
  cache_control: z.unknown().optional(),
  inference_geo: z.unknown().optional(),
  speed: z.unknown().optional(),
  user_profile_id: z.unknown().optional(),
  diagnostics: z.unknown().optional(),
})
type Given = z.output<typeof SCHEMA>

export function readRequest(body: Wire, recall: Recall): ChatAsked {
  const notes = new RequestNotes()
  const given = readBody(SCHEMA, body, notes)
  const earlier = given.thread?.type === 'continue' ? recalled(recall, given.thread.previous_message_id) : undefined
  const tools = given.tools ? readTools(given.tools, notes) : (earlier?.carried?.tools ?? [])
  return {
    messages: conversation(given, earlier, notes),
    args: argsOf(given, tools, notes),
    stream: given.stream ?? false,
    carried: { tools },
    notes,
  }
}

function recalled(recall: Recall, id: string): Recalled {
  const found = recall(id)
  if (found) return found
  throw new TrinityError('dialect/previous', `there is no message ${id} to go on from`, {
    path: 'thread.previous_message_id',
    hint: 'send the whole conversation; threads last as long as their session',
  })
}

/** The system prompt of a thread stays until another is given. */
function conversation(given: Given, earlier: Recalled | undefined, notes: RequestNotes): ChatMessage[] {
  const before = earlier?.messages ?? []
  const system = given.system === undefined ? [] : [contentText(given.system, 'system', TEXT, '\n')]
  const kept = system.length > 0 && before[0]?.role === 'system' ? before.slice(1) : before
  const messages = readMessages(
    [...system.map((content): ChatMessage => ({ role: 'system', content })), ...kept],
    given.messages,
    notes,
  )
  if (messages.some(({ role }) => role !== 'system')) return messages
  throw new TrinityError('dialect/invalid', 'messages: at least one message is needed', { path: 'messages' })
}

function argsOf(given: Given, tools: readonly unknown[], notes: RequestNotes): ChatArgs {
  const { tool_choice: choice, thinking, output_config: output, output_format } = given
  const { temperature, top_p, top_k, stop_sequences: stop, max_tokens } = given
  return {
    ...{ temperature, top_p, top_k, max_tokens },
    ...(stop?.length ? { stop } : {}),
    ...toolArgs(tools, choiceOf(choice), notes),
    ...(choice?.disable_parallel_tool_use ? { parallel_tool_calls: false } : {}),
    ...effortArgs(output?.effort, undefined),
    ...(thinking && thinking.type !== 'adaptive' ? { enable_thinking: thinking.type === 'enabled' } : {}),
    ...formatArgs(output?.format ?? output_format),
  }
}

function choiceOf(choice: Given['tool_choice']): unknown {
  if (choice?.type !== 'tool') return choice?.type === 'any' ? 'required' : choice?.type
  if (choice.name !== undefined) return { type: 'function', function: { name: choice.name } }
  throw new TrinityError('dialect/invalid', 'tool_choice.name: the tool to call is missing', {
    path: 'tool_choice.name',
  })
}

function formatArgs(given: unknown): Pick<ChatArgs, 'response_format'> {
  if (given === undefined || given === null) return {}
  const { type, schema } = wireObject(given, 'output_config.format')
  if (type !== 'json_schema') throw unsupported('output_config.format', `the format ${JSON.stringify(type)}`)
  return { response_format: { type: 'json_schema', json_schema: { schema } } }
}

function readTools(tools: readonly unknown[], notes: RequestNotes): unknown[] {
  return tools.flatMap((given, i) => {
    const { type, name, description, input_schema: parameters, strict } = wireObject(given, `tools[${i}]`)
    if (type !== undefined && type !== null && type !== 'custom') {
      return dropTool(type, `tools[${i}]`, notes, 'use tools with an input_schema')
    }
    const described = { name, description, parameters, strict: strict ?? undefined }
    return [
      {
        type: 'function',
        function: Object.fromEntries(Object.entries(described).filter(([, one]) => one !== undefined)),
      },
    ]
  })
}
