import { z } from 'zod'
import { TrinityError } from '../../base/error.js'
import type { ChatMessage } from '../../model/index.js'
import type { ChatAsked } from '../asked.js'
import type { ChatArgs, ResponseFormat } from '../chat-args.js'
import type { Recall, Recalled, Wire } from '../dialect.js'
import { effortArgs } from '../openai/effort.js'
import { RequestNotes } from '../request-notes.js'
import { picked, samplingArgs, samplingShape, silentShape, thinkingShape } from '../sampling-schema.js'
import { allowedTools, toolArgs } from '../tools.js'
import { joinTurns } from '../turns.js'
import { readBody, unsupported, wireObject } from '../wire.js'
import { readItems } from './items.js'
import { type ClientTools, choiceName, readTools } from './tools.js'

/** Further answers and other names of a format are not part of this API. */
const { n: _, response_format: __, ...sampling } = samplingShape

const SCHEMA = z.object({
  ...silentShape,
  ...sampling,
  ...thinkingShape,
  input: z.union([z.string(), z.array(z.unknown())]).optional(),
  instructions: z.string().optional(),
  previous_response_id: z.string().optional(),
  max_output_tokens: z.int().min(1).optional(),
  tools: z.array(z.unknown()).optional(),
  tool_choice: z.union([z.string(), z.looseObject({ type: z.string() })]).optional(),
  parallel_tool_calls: z.boolean().optional(),
  reasoning: z
    .strictObject({
      effort: z.string().nullish(),
      summary: z.string().nullish(),
      generate_summary: z.string().nullish(),
    })
    .optional(),
  text: z.strictObject({ format: z.unknown().optional(), verbosity: z.unknown().optional() }).optional(),
  /** All but log-probs belong to tools that there are not, or to reasoning that is hidden. */
  include: z.array(z.string().refine((one) => !one.includes('logprobs'), 'log-probs are not given here')).optional(),
  top_logprobs: z.literal(0).optional(),
  truncation: z.literal('disabled', { error: 'a conversation that is too long is refused, not cut' }).optional(),
  background: z.literal(false).optional(),
  stream_options: z.unknown().optional(),
  prompt_cache_options: z.unknown().optional(),
})
export type Given = z.output<typeof SCHEMA>

/** What a request asks for, and what its reply repeats of it. */
export interface ResponsesAsked extends ChatAsked {
  readonly given: Given
  readonly clientTools: ClientTools
}

export function readRequest(body: Wire, recall: Recall): ResponsesAsked {
  const notes = new RequestNotes()
  const given = readBody(SCHEMA, body, notes)
  const { instructions, input = [] } = given
  const system: ChatMessage[] = instructions === undefined ? [] : [{ role: 'system', content: instructions }]
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : readItems(input, { recall, notes })
  const messages = joinTurns([...system, ...earlier(recall, given.previous_response_id), ...items])
  if (messages.length === system.length) {
    throw new TrinityError('dialect/invalid', 'input: there is nothing to answer', { path: 'input' })
  }
  const { tools, clientTools } = readTools(given.tools ?? [], notes)
  return {
    given,
    clientTools,
    notes,
    messages,
    args: argsOf(given, tools, notes),
    stream: given.stream ?? false,
    carried: { instructed: system.length > 0 },
  }
}

/** The conversation that a request goes on from. Instructions are given anew with every request. */
function earlier(recall: Recall, id: string | undefined): readonly ChatMessage[] {
  if (id === undefined) return []
  const found: Recalled | undefined = recall(id)
  if (found) return found.carried?.instructed ? found.messages.slice(1) : found.messages
  throw new TrinityError('dialect/previous', `there is no response ${id} to go on from`, {
    path: 'previous_response_id',
    hint: 'send the whole conversation; responses are kept as long as their session',
  })
}

function argsOf(given: Given, tools: readonly unknown[], notes: RequestNotes): ChatArgs {
  const most = given.max_output_tokens
  const format = given.text?.format
  return {
    ...samplingArgs(given, sampling),
    ...picked(given, thinkingShape),
    ...effortArgs(given.reasoning?.effort, given.chat_template_kwargs),
    ...toolArgs(tools, choiceOf(given.tool_choice), notes),
    ...picked(given, { parallel_tool_calls: true }),
    ...(most === undefined ? {} : { max_tokens: most }),
    ...(format === undefined || format === null ? {} : { response_format: formatOf(format) }),
  }
}

function choiceOf(choice: Given['tool_choice']): unknown {
  if (typeof choice !== 'object') return choice
  if (choice.type === 'function' || choice.type === 'custom')
    return { type: 'function', function: { name: choiceName(choice, 'tool_choice') } }
  if (choice.type === 'allowed_tools') return allowedTools(choice, 'tool_choice', choiceName)
  throw unsupported(
    'tool_choice',
    `a choice of type ${JSON.stringify(choice.type)}`,
    "use 'auto', 'required' or a function",
  )
}

function formatOf(given: unknown): ResponseFormat {
  const { type, ...described } = wireObject(given, 'text.format')
  if (type === 'text' || type === 'json_object') return { type }
  if (type === 'json_schema') return { type, json_schema: { schema: undefined, ...described } }
  throw unsupported('text.format', `the format ${JSON.stringify(type)}`, "use 'text', 'json_object' or 'json_schema'")
}
