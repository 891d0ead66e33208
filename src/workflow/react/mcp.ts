import { TrinityError } from '../../base/error.js'
import { isJsonObject } from '../../base/file/json-file.js'
import { JsonRpc } from '../../machine/json-rpc.js'
import { OwnedProcess } from '../../machine/owned-process.js'
import type { ReactTool } from './tool.js'

/** Of the versions of the protocol the newest that is known here; a server may answer with an older one. */
const PROTOCOL = '2025-06-18'
/** A server may be downloaded first (`npx`). */
const OPEN_MS = 120_000
const CALL_MS = 120_000
const PEER = {
  code: 'react/mcp',
  name: 'the MCP server',
  hint: 'run it by itself: it must speak MCP over standard input and output',
}

/** The program of a server of the Model Context Protocol that speaks over its standard input and output. */
export interface McpServer {
  readonly command: string
  readonly args?: readonly string[]
  /** Further variables of its environment. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
}

/** A server that runs. Its tools are those of a `ReactAgent`; several agents may use them at once. */
export interface McpTools {
  readonly tools: readonly ReactTool[]
  /** False when it has ended. */
  readonly isOpen: boolean
  close(): void
}

/**
 * Starts an MCP server and asks it for its tools.
 * @example
 * import { agent } from 'trinity-rft'
 * import { mcpTools, ReactAgent } from 'trinity-rft/agent'
 *
 * const server = mcpTools({ command: 'node', args: ['server.mjs'] })
 *
 * export default agent('clerk', async (task, { openai, signal }) => {
 *   const { tools } = await server
 *   const { text } = await new ReactAgent({ openai, tools, signal }).reply(task.question)
 *   return text === task.truth
 * })
 */
export async function mcpTools({ command, args = [], env, cwd }: McpServer): Promise<McpTools> {
  const link = new JsonRpc(new OwnedProcess({ command, args, cwd, env: { ...process.env, ...env }, output: 'data' }), {
    ...PEER,
    command: [command, ...args].join(' '),
  })
  try {
    const hello = { protocolVersion: PROTOCOL, capabilities: {}, clientInfo: { name: 'trinity-rft', version: '1' } }
    await link.ask('initialize', hello, OPEN_MS)
    link.tell('notifications/initialized')
    const tools = (await listed(link)).map((tool) => asTool(link, tool))
    return {
      tools,
      get isOpen() {
        return link.isOpen
      },
      close: () => link.close(),
    }
  } catch (error) {
    link.close()
    throw error
  }
}

interface Listed {
  readonly name: string
  readonly description?: string
  readonly inputSchema?: Record<string, unknown>
}

async function listed(link: JsonRpc): Promise<Listed[]> {
  const tools: Listed[] = []
  let cursor: unknown
  do {
    const page = await link.ask('tools/list', cursor === undefined ? {} : { cursor }, OPEN_MS)
    tools.push(...((page.tools ?? []) as Listed[]))
    cursor = page.nextCursor
  } while (cursor !== undefined && cursor !== null)
  return tools
}

function asTool(link: JsonRpc, { name, description = '', inputSchema = { type: 'object' } }: Listed): ReactTool {
  const run: ReactTool['run'] = async (args, { signal }) => {
    const { content, isError } = await link.ask('tools/call', { name, arguments: args }, CALL_MS, signal)
    const text = (Array.isArray(content) ? content : []).map(textOf).join('\n')
    if (isError) throw new TrinityError('react/mcp-call', text)
    return text
  }
  return { name, description, parameters: inputSchema, run }
}

function textOf(part: unknown): string {
  if (!isJsonObject(part)) return ''
  return typeof part.text === 'string' ? part.text : `[${String(part.type)}]`
}
