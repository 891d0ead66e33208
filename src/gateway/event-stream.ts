import type { ServerResponse } from 'node:http'
import type { ServerEvent } from '../dialect/dialect.js'
import type { Flusher, Holding } from './flusher.js'
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
 * status of its own. What the first token brings goes out at once, what follows when the flusher says so. When the client does not
 * read, writing waits for it, and after a while the client is cut.
 */
export class EventStream implements Holding {
  readonly #response: ServerResponse
  readonly #limits: StreamLimits
  readonly #headers: Readonly<Record<string, string>>
  readonly #flusher: Flusher
  readonly #keepAlive: NodeJS.Timeout
  #held = ''
  #isFirst = true
  #isBeginning = false
  #silent = true
  #flushed: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined

  constructor(
    response: ServerResponse,
    limits: StreamLimits,
    headers: Readonly<Record<string, string>>,
    flusher: Flusher,
  ) {
    this.#response = response
    this.#limits = limits
    this.#headers = headers
    this.#flusher = flusher
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
    this.#flusher.add(this)
  }

  /** Resolves when there is room for more; at once, where the client is gone. */
  write(text: string): Promise<void> | undefined {
    this.#silent = false
    this.#held = this.#response.destroyed ? '' : this.#held + text
    if (!this.begun || this.#held === '') return undefined
    if (this.#isFirst) this.#begin()
    else if (this.#held.length > this.#limits.unreadBytes) this.flush()
    else this.#flusher.add(this)
    // Where no write was told to wait, nobody will tell when there is room.
    const { writableLength, writableNeedDrain } = this.#response
    return writableNeedDrain && writableLength > this.#limits.unreadBytes ? this.#room() : undefined
  }

  /** Resolves when nothing is held any more; undefined: nothing is. */
  get flushed(): Promise<void> | undefined {
    if (this.#held === '' || !this.begun || this.#isFirst) return undefined
    this.#flushed ??= settling()
    return this.#flushed.promise
  }

  /** Sends what is held, or at least the head. */
  flush(): void {
    const held = this.#held
    this.#held = ''
    this.#flushed?.resolve()
    this.#flushed = undefined
    if (this.#response.destroyed || this.#response.writableEnded) return
    if (held === '') this.#response.flushHeaders()
    else this.#response.write(held)
  }

  /** The first token brings several events: they are all there when promises have settled. */
  #begin(): void {
    if (this.#isBeginning) return
    this.#isBeginning = true
    process.nextTick(() => {
      this.#isFirst = false
      this.flush()
    })
  }

  end(): void {
    this.begin()
    const held = this.#held
    this.#held = ''
    this.stop()
    if (!this.#response.destroyed) this.#response.end(held)
  }

  /** Without an end: the head was not sent, nobody is there, or an error follows. */
  stop(): void {
    clearInterval(this.#keepAlive)
    this.#flusher.delete(this)
    if (this.begun && this.#held !== '') this.flush()
  }

  #comment(): void {
    if (this.#silent && !this.#response.destroyed) {
      this.begin()
      this.#held += ': keep-alive\n\n'
      this.flush()
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

function settling(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((done) => (resolve = done))
  return { promise, resolve }
}
