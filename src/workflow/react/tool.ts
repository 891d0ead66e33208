import { z } from 'zod'
import { messageOf, TrinityError } from '../../base/error.js'
import { isJsonObject } from '../../base/file/json-file.js'
import { parseJsonText } from '../../base/json-text.js'

/** What the model may call: a name, a line about it, what it takes, and what it does. */
export interface ReactTool<A = Record<string, unknown>> {
  readonly name: string
  readonly description: string
  /** A zod object, by which arguments are checked, or a JSON Schema, by which the tool checks them itself. */
  readonly parameters: z.ZodType<A> | Readonly<Record<string, unknown>>
  /** What it returns is what the model reads: text as it is, anything else as JSON. What it throws the model reads as well. */
  run(args: A, call: { readonly signal?: AbortSignal }): unknown
}

/**
 * A tool for a `ReactAgent`, with the types of its arguments.
 * @example
 * import { z } from 'trinity-rft'
 * import { reactTool } from 'trinity-rft/agent'
 *
 * export const add = reactTool({
 *   name: 'add',
 *   description: 'Adds two numbers',
 *   parameters: z.object({ a: z.number(), b: z.number() }),
 *   run: ({ a, b }) => a + b,
 * })
 */
export function reactTool<A>(tool: ReactTool<A>): ReactTool {
  return tool as ReactTool<unknown> as ReactTool
}

/** As the chat API lists it. */
export interface ToolEntry {
  readonly type: 'function'
  readonly function: { readonly name: string; readonly description: string; readonly parameters: object }
}

export function toolEntry({ name, description, parameters }: ReactTool): ToolEntry {
  if (!(parameters instanceof z.ZodType)) return { type: 'function', function: { name, description, parameters } }
  const { $schema: _, ...schema } = z.toJSONSchema(parameters, { io: 'input' })
  return { type: 'function', function: { name, description, parameters: schema } }
}

/** What the model reads of a call. */
export interface ToolResult {
  readonly text: string
  readonly failed: boolean
  /** What the tool returned. */
  readonly value?: unknown
}

/**
 * Runs what the model called. Whatever is wrong with the call, and whatever the tool throws, is told to the model, which
 * may do better; only the end of the rollout is thrown.
 */
export async function callTool(
  tools: readonly ReactTool[],
  { name, arguments: written }: { readonly name: string; readonly arguments: string },
  signal?: AbortSignal,
): Promise<ToolResult> {
  try {
    const tool = tools.find((one) => one.name === name)
    if (!tool)
      throw wrong(`there is no tool '${name}'; there are: ${tools.map((one) => one.name).join(', ') || 'none'}`)
    const value = await tool.run(argumentsOf(tool, written), { signal })
    signal?.throwIfAborted()
    return { text: textOf(value), failed: false, value }
  } catch (error) {
    signal?.throwIfAborted()
    return { text: `Error: ${messageOf(error)}`, failed: true }
  }
}

function argumentsOf(tool: ReactTool, written: string): Record<string, unknown> {
  let given: unknown
  try {
    // some servers write nothing for no arguments
    given = written.trim() === '' ? {} : parseJsonText(written)
  } catch {
    throw wrong('the arguments are not JSON')
  }
  if (!isJsonObject(given)) throw wrong('the arguments are not a JSON object')
  if (!(tool.parameters instanceof z.ZodType)) return given
  const checked = tool.parameters.safeParse(given)
  if (checked.success) return checked.data
  throw wrong(
    checked.error.issues.map(({ path, message }) => `${path.join('.') || 'arguments'}: ${message}`).join('; '),
  )
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'done')
}

const wrong = (message: string) => new TrinityError('react/call', message)
