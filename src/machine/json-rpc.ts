import { createInterface } from 'node:readline'
import { TrinityError } from '../base/error.js'
import { isJsonObject, type JsonObject } from '../base/file/json-file.js'
import type { OwnedProcess } from './owned-process.js'

/** Who is spoken with, as it reads in an error. */
export interface Peer {
  readonly code: string
  /** `the MCP server`. */
  readonly name: string
  /** How it was started. */
  readonly command: string
  readonly hint?: string
}

interface Waiting {
  resolve(result: JsonObject): void
  reject(error: Error): void
}

/** Requests to a program and its answers, JSON-RPC 2.0 with a line for each, over its standard input and output. */
export class JsonRpc {
  readonly #process: OwnedProcess
  readonly #peer: Peer
  readonly #waiting = new Map<number, Waiting>()
  #next = 1

  constructor(process: OwnedProcess, peer: Peer) {
    this.#process = process
    this.#peer = peer
    createInterface({ input: process.output }).on('line', (line) => this.#hear(line))
    void process.exited.then(({ error, code, signal }) => {
      const how = error ? `could not be started: ${error.message}` : `ended (${signal ?? `exit code ${code}`})`
      this.#fail(`${how}: ${peer.command}\n${process.log.last().join('\n')}`.trimEnd())
    })
  }

  get isOpen(): boolean {
    return this.#process.exit === undefined
  }

  /** Fails at the limit, with the signal, with what the program says, and when it ends. */
  async ask(method: string, params: object, limitMs: number, signal?: AbortSignal): Promise<JsonObject> {
    signal?.throwIfAborted()
    if (!this.isOpen) throw this.#failure(`has ended: ${this.#peer.command}`)
    const id = this.#next++
    this.#process.keepsAlive(true)
    let timer: NodeJS.Timeout | undefined
    const leave = () => {
      this.tell('notifications/cancelled', { requestId: id })
      this.#waiting.get(id)?.reject(signal?.reason)
    }
    signal?.addEventListener('abort', leave, { once: true })
    try {
      return await new Promise((resolve, reject) => {
        this.#waiting.set(id, { resolve, reject })
        const late = `did not answer '${method}' within ${limitMs / 1000} s: ${this.#peer.command}`
        timer = setTimeout(() => reject(this.#failure(late)), limitMs)
        this.#write({ id, method, params })
      })
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', leave)
      this.#waiting.delete(id)
      if (this.#waiting.size === 0) this.#process.keepsAlive(false)
    }
  }

  tell(method: string, params?: object): void {
    this.#write({ method, params })
  }

  close(): void {
    this.#process.kill()
    this.#fail(`was closed: ${this.#peer.command}`)
  }

  #write(message: object): void {
    this.#process.input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }

  #hear(line: string): void {
    const message = parsed(line)
    if (!message) return // some programs print more than they should
    const { id, method, result, error } = message
    if (typeof method === 'string') {
      // what it asks of us: only whether we are there
      if (id === undefined) return
      const unknown = { error: { code: -32601, message: `no method ${method}` } }
      this.#write({ id, ...(method === 'ping' ? { result: {} } : unknown) })
      return
    }
    const waiting = this.#waiting.get(Number(id))
    if (isJsonObject(error)) waiting?.reject(this.#failure(`says: ${String(error.message)}`))
    else waiting?.resolve(isJsonObject(result) ? result : {})
  }

  #fail(how: string): void {
    for (const { reject } of this.#waiting.values()) reject(this.#failure(how))
  }

  #failure(how: string): TrinityError {
    const { code, name, hint } = this.#peer
    return new TrinityError(code, `${name} ${how}`, { hint })
  }
}

function parsed(line: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
