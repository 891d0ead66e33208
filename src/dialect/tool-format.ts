import { TrinityError } from '../base/error.js'
import { isJsonObject } from '../base/file/json-file.js'
import type { Format } from '../grammar/index.js'
import type { ToolChoice } from './chat-args.js'

/** How Qwen and Hermes models write the call of a tool. */
export const TOOL_CALL = '<tool_call>'
export const TOOL_CALL_END = '</tool_call>'

/** A tool as the OpenAI API describes it. */
interface Tool {
  readonly name: string
  readonly parameters: unknown
  /** Its arguments are held to their schema also where the model is free to call it or not. */
  readonly strict: boolean
}

export function toolsOf(given: readonly unknown[]): Tool[] {
  return given.map((tool, i) => {
    const described = isJsonObject(tool) && isJsonObject(tool.function) ? tool.function : tool
    if (isJsonObject(described) && typeof described.name === 'string') {
      const { name, parameters, strict } = described
      return { name, parameters: parameters ?? { type: 'object' }, strict: strict === true }
    }
    throw new TrinityError('chat/tool', `tool ${i} has no name`, {
      path: `tools[${i}]`,
      hint: "describe it as { type: 'function', function: { name, parameters } }",
    })
  })
}

/** The tools that a choice allows. Throws if it names one that was not given. */
export function chosen(tools: readonly Tool[], choice: ToolChoice): readonly Tool[] {
  if (typeof choice === 'string') return tools
  const names = new Set(namesOf(choice))
  const found = tools.filter(({ name }) => names.has(name))
  if (found.length > 0 && new Set(found.map(({ name }) => name)).size === names.size) return found
  throw new TrinityError('chat/tool-choice', `tool_choice names no tool that there is: ${JSON.stringify(choice)}`, {
    path: 'tool_choice',
    hint: `tools: ${tools.map((tool) => tool.name).join(', ')}`,
  })
}

function namesOf(choice: Exclude<ToolChoice, string>): unknown[] {
  const nameOf = (tool: unknown) => (isJsonObject(tool) && isJsonObject(tool.function) ? tool.function.name : undefined)
  if (choice.type !== 'allowed_tools') return [nameOf(choice)]
  const tools: unknown = choice.allowed_tools?.tools
  return Array.isArray(tools) ? tools.map(nameOf) : []
}

/** One call, or several after each other. `begun`: the first opening tag is already written. */
export function callsFormat(tools: readonly Tool[], several: boolean, begun: boolean): Format {
  const rest: Format = {
    type: 'sequence',
    parts: [{ type: 'any_of', parts: tools.map(body) }, SPACE, text(TOOL_CALL_END)],
  }
  const whole: Format = { type: 'sequence', parts: [text(TOOL_CALL), rest] }
  const first = begun ? rest : whole
  if (!several) return first
  const more: Format = { type: 'repeat', part: { type: 'sequence', parts: [SPACE, whole] }, min: 0 }
  return { type: 'sequence', parts: [first, more] }
}

function body({ name, parameters }: Tool): Format {
  const parts: Format[] = [
    ...[SPACE, text('{'), SPACE, text('"name":'), SPACE, text(JSON.stringify(name)), text(','), SPACE],
    ...[text('"arguments":'), SPACE, { type: 'json_schema', schema: parameters } as const, SPACE, text('}')],
  ]
  return { type: 'sequence', parts }
}

const SPACE: Format = { type: 'space' }

function text(text: string): Format {
  return { type: 'choice', choices: [text] }
}
