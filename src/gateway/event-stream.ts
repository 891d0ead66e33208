import type { ServerResponse } from 'node:http'
import type { ServerEvent } from '../dialect/dialect.js'
import type { GatewayLimits } from './limits.js'

export const EVENTS_TYPE = 'text/event-stream; charset=utf-8'

/** An event as it stands on the wire. */
export function eventText({ event, data }: ServerEvent): string {
  const lines = data.includes('\n') ? data.split('\n').join('\ndata: ') : data
  return event === undefined ? `data: ${lines}\n\n` : `event: ${event}\ndata: ${lines}\n\n`
}

type StreamLimits = Pick<GatewayLimits, 'unreadBytes' | 'unreadMs' | 'keepAliveMs'>

/**
 * Server-sent events to one client. The head waits for `begin`: a call that fails before its first token still gets a
 * status of its own. When the client does not read, writing waits for it, and after a while the client is cut.
 */
export class EventStream {
  readonly #response: ServerResponse
  readonly #limits: StreamLimits
  readonly #headers: Readonly<Record<string, string>>
  readonly #keepAlive: NodeJS.Timeout
  /** Written before the head was sent. */
  #held = ''
  #silent = true

  constructor(response: ServerResponse, limits: StreamLimits, headers: Readonly<Record<string, string>>) {
    this.#response = response
    this.#limits = limits
    this.#headers = headers
    this.#keepAlive = setInterval(() => this.#comment(), limits.keepAliveMs)
  }

  get begun(): boolean {
    return this.#response.headersSent
  }

  begin(): void {
    if (this.begun || this.#response.destroyed) return
    this.#response.writeHead(200, {
      'content-type': EVENTS_TYPE,
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      ...this.#headers,
    })
    this.#response.flushHeaders()
    if (this.#held !== '') this.#response.write(this.#held)
    this.#held = ''
  }

  /** Resolves when there is room for more; at once, where the client is gone. */
  write(text: string): Promise<void> | undefined {
    this.#silent = false
    if (!this.begun) this.#held += text
    else if (!this.#response.destroyed) {
      this.#response.write(text)
      if (this.#response.writableLength > this.#limits.unreadBytes) return this.#room()
    }
    return undefined
  }

  end(): void {
    this.begin()
    this.stop()
    if (!this.#response.destroyed) this.#response.end()
  }

  /** Without an end: the head was not sent, or nobody is there. */
  stop(): void {
    clearInterval(this.#keepAlive)
  }

  #comment(): void {
    if (this.#silent && !this.#response.destroyed) {
      this.begin()
      this.#response.write(': keep-alive\n\n')
    }
    this.#silent = true
  }

  /** Node destroys a socket that times out, which is one that took nothing of what waits. */
  #room(): Promise<void> {
    const response = this.#response
    response.req.socket.setTimeout(this.#limits.unreadMs)
    return new Promise((resolve) => {
      const done = () => {
        response.off('drain', done).off('close', done)
        response.req.socket.setTimeout(0)
        resolve()
      }
      response.on('drain', done).on('close', done)
    })
  }
}
