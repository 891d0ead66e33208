import { isJsonObject } from '../base/file/json-file.js'
import type { ChatArgs, ToolChoice } from './chat-args.js'
import type { Wire } from './dialect.js'
import type { RequestNotes } from './request-notes.js'
import { unsupported, wireList, wireObject, wireText } from './wire.js'

/** Types of tools that the client runs. An agent that offers one waits for its calls, so none is dropped. */
const RUN_BY_CLIENT = /^(custom|local_shell|shell|apply_patch|computer|bash|text_editor|memory)(_|$)/

/**
 * Leaves out a tool that is no function. Hosted tools (`web_search`) are run by the provider of a model; a model that is
 * trained has none, and the client does not answer their calls. Throws for tools that the client runs.
 */
export function dropTool(type: unknown, path: string, notes: RequestNotes, hint = 'use functions'): readonly never[] {
  if (typeof type !== 'string' || RUN_BY_CLIENT.test(type)) {
    throw unsupported(path, `a tool of type ${JSON.stringify(type)}`, hint)
  }
  notes.dropTool(type, path)
  return []
}

/** Sampling arguments for tools in the form of the chat API; none if they must not be called. */
export function toolArgs(
  given: readonly unknown[],
  choice: unknown,
  notes: RequestNotes,
): Pick<ChatArgs, 'tools' | 'tool_choice'> {
  const tools = given.flatMap((tool, i) => {
    const { type = 'function' } = wireObject(tool, `tools[${i}]`)
    return type === 'function' ? [tool] : dropTool(type, `tools[${i}]`, notes)
  })
  if (tools.length > 0 && choice !== 'none') {
    return { tools, ...(choice === undefined ? {} : { tool_choice: choice as ToolChoice }) }
  }
  if (choice === undefined || choice === 'none' || choice === 'auto') return {}
  throw unsupported('tool_choice', 'a call without tools', 'give the tools as well')
}

/**
 * A choice of `allowed_tools`, in the form of the chat API. `read` returns the name of a function in the list. Hosted
 * tools in it are left out, as among the tools.
 */
export function allowedTools(
  { mode = 'auto', tools }: Wire,
  path: string,
  read: (tool: Wire, path: string) => string,
): ToolChoice {
  if (mode !== 'auto' && mode !== 'required') {
    throw unsupported(`${path}.mode`, `the mode ${JSON.stringify(mode)}`, "use 'auto' or 'required'")
  }
  const names = wireList(tools, `${path}.tools`).flatMap((given, i) => {
    const at = `${path}.tools[${i}]`
    const tool = wireObject(given, at)
    return ['function', 'custom', undefined].some((type) => type === tool.type) ? [read(tool, at)] : []
  })
  if (names.length === 0) throw unsupported(path, 'a list of tools without functions', "use 'none'")
  const allowed = names.map((name) => ({ type: 'function' as const, function: { name } }))
  return { type: 'allowed_tools', allowed_tools: { mode, tools: allowed } }
}

/** Reads the name of a function that is described one level deeper. */
export function namedFunction(tool: Wire, path: string): string {
  const described = isJsonObject(tool.function) ? tool.function : {}
  return wireText(described.name, `${path}.function.name`)
}
