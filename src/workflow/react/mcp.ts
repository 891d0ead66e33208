import { createInterface } from 'node:readline'
import { TrinityError } from '../../base/error.js'
import { isJsonObject } from '../../base/file/json-file.js'
import { OwnedProcess } from '../../machine/owned-process.js'
import type { ReactTool } from './tool.js'

/** Of the versions of the protocol the newest that is known here; a server may answer with an older one. */
const PROTOCOL = '2025-06-18'
/** A server may be downloaded first (`npx`). */
const OPEN_MS = 120_000
const CALL_MS = 120_000

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
export async function mcpTools(server: McpServer): Promise<McpTools> {
  const link = new McpLink(server)
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

async function listed(link: McpLink): Promise<Listed[]> {
  const tools: Listed[] = []
  let cursor: unknown
  do {
    const page = await link.ask('tools/list', cursor === undefined ? {} : { cursor }, OPEN_MS)
    tools.push(...((page.tools ?? []) as Listed[]))
    cursor = page.nextCursor
  } while (cursor !== undefined && cursor !== null)
  return tools
}

function asTool(link: McpLink, { name, description = '', inputSchema = { type: 'object' } }: Listed): ReactTool {
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

interface Waiting {
  resolve(result: Record<string, unknown>): void
  reject(error: Error): void
}

/** Requests and answers, a line of JSON each. */
class McpLink {
  readonly #process: OwnedProcess
  readonly #shown: string
  readonly #waiting = new Map<number, Waiting>()
  #next = 1

  constructor({ command, args = [], env, cwd }: McpServer) {
    this.#shown = [command, ...args].join(' ')
    this.#process = new OwnedProcess({ command, args, cwd, env: { ...process.env, ...env }, output: 'data' })
    createInterface({ input: this.#process.output }).on('line', (line) => this.#hear(line))
    void this.#process.exited.then(({ error, code, signal }) => {
      const how = error ? `could not be started: ${error.message}` : `ended (${signal ?? `exit code ${code}`})`
      const said = this.#process.log.last().join('\n')
      this.#fail(failure(`the MCP server ${how}: ${this.#shown}\n${said}`.trimEnd()))
    })
  }

  get isOpen(): boolean {
    return this.#process.exit === undefined
  }

  async ask(method: string, params: object, limitMs: number, signal?: AbortSignal): Promise<Record<string, unknown>> {
    signal?.throwIfAborted()
    if (!this.isOpen) throw failure(`the MCP server has ended: ${this.#shown}`)
    const id = this.#next++
    this.#process.keepsAlive(true)
    let timer: NodeJS.Timeout | undefined
    const left = () => {
      this.tell('notifications/cancelled', { requestId: id })
      this.#waiting.get(id)?.reject(signal?.reason)
    }
    signal?.addEventListener('abort', left, { once: true })
    try {
      return await new Promise((resolve, reject) => {
        this.#waiting.set(id, { resolve, reject })
        const late = `the MCP server did not answer '${method}' within ${limitMs / 1000} s: ${this.#shown}`
        timer = setTimeout(() => reject(failure(late)), limitMs)
        this.#write({ id, method, params })
      })
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', left)
      this.#waiting.delete(id)
      if (this.#waiting.size === 0) this.#process.keepsAlive(false)
    }
  }

  tell(method: string, params?: object): void {
    this.#write({ method, params })
  }

  close(): void {
    this.#process.kill()
    this.#fail(failure(`the MCP server was closed: ${this.#shown}`))
  }

  #write(message: object): void {
    this.#process.input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }

  #hear(line: string): void {
    const message = parsed(line)
    if (!message) return // some servers print more than they should
    const { id, method, result, error } = message
    if (typeof method === 'string') {
      // what a server asks of its client: only that it is there
      if (id === undefined) return
      const unknown = { error: { code: -32601, message: `no method ${method}` } }
      this.#write({ id, ...(method === 'ping' ? { result: {} } : unknown) })
      return
    }
    const waiting = this.#waiting.get(Number(id))
    if (isJsonObject(error)) waiting?.reject(failure(`the MCP server says: ${String(error.message)}`))
    else waiting?.resolve(isJsonObject(result) ? result : {})
  }

  #fail(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error)
  }
}

function parsed(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function failure(message: string): TrinityError {
  return new TrinityError('react/mcp', message, {
    hint: 'run it by itself: it must speak MCP over standard input and output',
  })
}
