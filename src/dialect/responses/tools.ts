import { isJsonObject } from '../../base/file/json-file.js'
import type { Call } from '../answer.js'
import type { Wire } from '../dialect.js'
import type { RequestNotes } from '../request-notes.js'
import { dropTool } from '../tools.js'
import { wireList, wireObject, wireText } from '../wire.js'

/** A tool that the client calls otherwise than the model. */
interface ClientTool {
  readonly name: string
  readonly namespace?: string
  /** It takes a text instead of arguments. */
  readonly custom: boolean
}

/** Tools of a request in the form of the chat API. */
export interface ReadTools {
  readonly tools: readonly unknown[]
  /** Tools of namespaces and custom ones, by the name under which the model calls them. */
  readonly clientTools: ClientTools
}
export type ClientTools = ReadonlyMap<string, ClientTool>

/**
 * Reads tools. Those of a namespace are offered one by one, under a name that has the namespace in front; a custom tool is
 * offered as a function with one argument, `input`.
 */
export function readTools(given: readonly unknown[], notes: RequestNotes): ReadTools {
  const clientTools = new Map<string, ClientTool>()
  const readOne = (tool: Wire, path: string, namespace?: string): readonly unknown[] => {
    const { type, name: own, format, ...described } = tool
    const custom = type === 'custom'
    if (type !== 'function' && !custom) return dropTool(type, path, notes)
    const bare = wireText(own, `${path}.name`)
    const name = flatName(namespace, bare, path)
    if (custom || namespace !== undefined) clientTools.set(name, { name: bare, namespace, custom })
    if (!custom) return [{ type, function: { name, ...described } }]
    const description = [described.description, grammarText(format)].filter((text) => typeof text === 'string')
    return [{ type: 'function', function: { name, description: description.join('\n\n'), parameters: INPUT } }]
  }
  const tools = given.flatMap((one, i) => {
    const path = `tools[${i}]`
    const tool = wireObject(one, path)
    if (tool.type !== 'namespace') return readOne(tool, path)
    const namespace = wireText(tool.name, `${path}.name`)
    return wireList(tool.tools ?? [], `${path}.tools`).flatMap((inner, j) => {
      const at = `${path}.tools[${j}]`
      return readOne(wireObject(inner, at), at, namespace)
    })
  })
  return { tools, clientTools }
}

const INPUT = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] }

function grammarText(format: unknown): string | undefined {
  if (!isJsonObject(format) || format.type !== 'grammar') return undefined
  return `The input follows this ${format.syntax} grammar:\n${format.definition}`
}

/**
 * The name under which the model calls a tool of a namespace. It depends on nothing else in the request: a later one may
 * leave the tools out, and its history must read the same.
 */
export function flatName(namespace: unknown, name: string, path: string): string {
  if (namespace === undefined || namespace === null || namespace === '') return name
  const prefix = wireText(namespace, `${path}.namespace`)
  return prefix.endsWith('__') ? prefix + name : `${prefix}__${name}`
}

/** Reads the name of a function or a custom tool in a choice. */
export function choiceName(tool: Wire, path: string): string {
  return flatName(tool.namespace, wireText(tool.name, `${path}.name`), path)
}

/** A call as the client knows it: the type of its item, its name, and its arguments or its input. */
export interface ClientCall {
  readonly type: 'function_call' | 'custom_tool_call'
  readonly named: Wire
  readonly key: 'arguments' | 'input'
  readonly text: string
}

export function clientCall({ name, arguments: args }: Call, clientTools: ClientTools): ClientCall {
  const { name: own = name, namespace, custom = false } = clientTools.get(name) ?? {}
  const named = { name: own, ...(namespace === undefined ? {} : { namespace }) }
  if (!custom) return { type: 'function_call', named, key: 'arguments', text: args }
  const given: unknown = JSON.parse(args)
  const input = isJsonObject(given) && typeof given.input === 'string' ? given.input : args
  return { type: 'custom_tool_call', named, key: 'input', text: input }
}

/** Arguments of the call of a custom tool. */
export function inputArguments(input: string): string {
  return JSON.stringify({ input })
}
