import { TrinityError } from '../base/error.js'
import { isJsonObject } from '../base/file/json-file.js'
import type { Format } from '../grammar/index.js'
import type { ChatArgs, SamplingArgs } from './chat-args.js'
import { callsFormat, chosen, TOOL_CALL, toolsOf } from './tool-format.js'

/**
 * What an answer is held to; undefined: nothing. `reasoning`: what stands before `</think>` is left free, for models whose
 * reasoning is told from the answer there.
 */
export function answerFormat(args: ChatArgs, { reasoning }: { reasoning: boolean }): Format | undefined {
  const format = withTools(textFormat(args), args)
  if (!format || !reasoning) return format
  const blanks: Format = { type: 'regex', pattern: '\\s{0,4}' }
  const thought: Format = { type: 'sequence', parts: [{ type: 'until', mark: '</think>' }, blanks, format] }
  return { type: 'any_of', parts: [format, thought] }
}

/** The format that the text of an answer must have. */
function textFormat(args: SamplingArgs): Format | undefined {
  const { response_format: asked, guided_json: schema, guided_regex: pattern, guided_choice: choices } = args
  const found: Format[] = []
  if (asked?.type === 'json_object') found.push({ type: 'json_object' })
  else if (asked?.type === 'json_schema') found.push({ type: 'json_schema', schema: schemaOf(asked.json_schema) })
  else if (asked && asked.type !== 'text') throw unknown((asked as { type: unknown }).type)
  if (schema !== undefined && schema !== null) found.push({ type: 'json_schema', schema: parsed(schema) })
  if (typeof pattern === 'string') found.push({ type: 'regex', pattern })
  if (choices) found.push({ type: 'choice', choices })
  if (found.length < 2) return found[0]
  throw new TrinityError('chat/format', 'an answer cannot have several formats at once', {
    path: 'response_format',
    hint: 'use one of response_format, guided_json, guided_regex and guided_choice',
  })
}

function withTools(own: Format | undefined, args: ChatArgs): Format | undefined {
  const { tools: given = [], tool_choice, parallel_tool_calls: parallel } = args
  const choice = tool_choice ?? 'auto'
  if (typeof choice === 'string' && !CHOICES.includes(choice)) throw unknownChoice(choice)
  if (given.length === 0 || choice === 'none') return own
  const all = toolsOf(given)
  const tools = chosen(all, choice)
  const mode = typeof choice === 'object' && choice.type === 'allowed_tools' ? choice.allowed_tools.mode : choice
  const several = parallel !== false && typeof mode === 'string'
  if (mode !== 'auto') return callsFormat(tools, several, false)
  if (own) return { type: 'any_of', parts: [own, callsFormat(tools, several, false)] }
  const free = tools.length === all.length && !tools.some(({ strict }) => strict)
  if (several && free) return undefined
  // text and calls are free; once a call begins, it is held to the tools that are allowed, to the schema of one that asks
  // for it, and to one call if several are not allowed
  const held = tools.map((tool) => (tool.strict ? tool : { ...tool, parameters: { type: 'object' } }))
  const calls: Format = {
    type: 'sequence',
    parts: [{ type: 'until', mark: TOOL_CALL }, callsFormat(held, several, true)],
  }
  return { type: 'any_of', parts: [{ type: 'free', mark: TOOL_CALL }, calls] }
}

const CHOICES = ['auto', 'none', 'required']

function unknownChoice(choice: string): TrinityError {
  return new TrinityError('chat/tool-choice', `there is no tool_choice '${choice}'`, {
    path: 'tool_choice',
    hint: `use ${CHOICES.map((name) => `'${name}'`).join(', ')} or { type: 'function', function: { name } }`,
  })
}

function schemaOf(described: unknown): unknown {
  if (isJsonObject(described) && described.schema !== undefined) return described.schema
  throw new TrinityError('chat/format', 'response_format has no schema', {
    path: 'response_format.json_schema.schema',
    hint: "use { type: 'json_schema', json_schema: { name, schema } }",
  })
}

/** vLLM takes a schema as text as well. */
function parsed(schema: unknown): unknown {
  if (typeof schema !== 'string') return schema
  try {
    return JSON.parse(schema)
  } catch (cause) {
    throw new TrinityError('chat/format', 'guided_json is not JSON', { path: 'guided_json', cause })
  }
}

function unknown(type: unknown): TrinityError {
  return new TrinityError('chat/format', `there is no response format ${JSON.stringify(type)}`, {
    path: 'response_format.type',
    hint: "use 'text', 'json_object' or 'json_schema'",
  })
}
