import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Logger } from '../src/base/log/logger.js'

/** A request that the service got. */
export interface Seen {
  method: string
  path: string
  query: URLSearchParams
  headers: IncomingMessage['headers']
  body: unknown
}

/** For tests: a tracking service that answers as it is told and remembers what it was sent. */
export class MockService {
  readonly seen: Seen[] = []
  /** Answers with these, one each, before anything else. */
  readonly failures: number[] = []
  readonly #server: Server
  #url = ''

  constructor(answer: (request: Seen) => unknown | { status: number; body: unknown }) {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const url = new URL(request.url ?? '/', this.#url)
        const text = Buffer.concat(chunks).toString()
        const seen: Seen = {
          method: request.method ?? '',
          path: url.pathname,
          query: url.searchParams,
          headers: request.headers,
          body: text === '' ? undefined : JSON.parse(text),
        }
        const status = this.failures.shift()
        if (status !== undefined) {
          response.writeHead(status, { 'content-type': 'application/json' }).end('{"message": "told to fail"}')
          return
        }
        this.seen.push(seen)
        const given = answer(seen) as { status?: number; body?: unknown } | undefined
        const isWhole = typeof given?.status === 'number'
        response.writeHead(isWhole ? (given?.status as number) : 200, { 'content-type': 'application/json' })
        response.end(JSON.stringify((isWhole ? given?.body : given) ?? {}))
      })
    })
  }

  get url(): string {
    return this.#url
  }

  async listen(port = 0): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve))
    this.#url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
    return this.#url
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

/** For tests: a logger whose lines can be looked at. */
export function listeningLogger(): Logger & { lines: string[] } {
  const lines: string[] = []
  const at = (level: string) => (message: string) => void lines.push(`${level} ${message}`)
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
