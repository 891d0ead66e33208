import { createServer, type Server, STATUS_CODES } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { getRequestListener } from '@hono/node-server'
import { messageOf, TrinityError } from '../base/error.js'
import type { Logger } from '../base/log/logger.js'
import type { Dialect } from '../dialect/dialect.js'
import { dialects as all } from '../dialect/dialects.js'
import { gatewayApp } from './app.js'
import type { Extension } from './extension.js'
import { hostInUrl, isEverywhere, isLoopback } from './guard.js'
import { type GatewayLimits, limitsOf } from './limits.js'
import { type GatewayStats, Meter } from './meter.js'
import type { Session, SessionParts } from './session.js'
import { Sessions } from './sessions.js'
import type { VisitorOptions } from './visitors.js'

/** How a gateway is opened. */
export interface GatewayOptions {
  /** Default: 127.0.0.1. With an address that others reach, `apiKey` is required. */
  readonly host?: string
  /** Default: one that is free. */
  readonly port?: number
  /** Certificate and private key in PEM: the server speaks HTTPS. */
  readonly tls?: { readonly key: string; readonly cert: string }
  readonly limits?: Partial<GatewayLimits>
  readonly logger?: Logger
  /** Opens every session, and guards `/metrics`. */
  readonly apiKey?: string
  /** Lets clients in that have no session: one is found or opened for them. Default: they are refused. */
  readonly visitors?: VisitorOptions
  /** Further routes and numbers. */
  readonly extension?: Extension
  /** The APIs that are spoken. Default: all. */
  readonly dialects?: readonly Dialect[]
}

/** Longer than clients keep an idle connection: a request must not meet one that we have just closed. */
const IDLE_MS = 65_000
/** Of requests that are not even HTTP, by the parser's word; others are 400. */
const PARSE_STATUS: Readonly<Record<string, number>> = { ERR_HTTP_REQUEST_TIMEOUT: 408, HPE_HEADER_OVERFLOW: 431 }
const DRAIN_MS = 20
/** How long `close` waits for clients to take their last bytes. */
const GRACE_MS = 1000
const SWEEP_MS = 10
/** Connections that wait to be accepted: rollouts begin together. */
const BACKLOG = 4096

/**
 * An HTTP server in front of models. Every rollout has a session with a base URL and a key of its own, so that a client
 * that knows nothing of training reaches its model by the API it was written for.
 */
export class Gateway {
  readonly url: string
  readonly #server: Server
  readonly #sessions: Sessions
  readonly #meter: Meter
  #closedBecause: TrinityError | undefined
  #closing: Promise<void> | undefined

  static async open(options: GatewayOptions = {}): Promise<Gateway> {
    const { host = '127.0.0.1', port = 0, tls, apiKey } = options
    if (!isLoopback(host) && !apiKey) {
      throw new TrinityError('gateway/no-key', `others reach a server at ${host}, and it has no key`, {
        hint: 'give apiKey as well, or leave out host',
      })
    }
    const limits = limitsOf(options.limits)
    const timing = {
      headersTimeout: limits.headerMs,
      // Bodies have a clock of their own; this one ends connections that nobody looks after.
      requestTimeout: limits.headerMs + limits.bodyMs,
      connectionsCheckingInterval: Math.min(1000, limits.headerMs),
      keepAliveTimeout: IDLE_MS,
    }
    const server = tls ? createTlsServer({ ...timing, ...tls }) : createServer(timing)
    await new Promise<void>((resolve, reject) => {
      const fail = (cause: Error) =>
        reject(
          new TrinityError('gateway/listen', `cannot listen at ${host}:${port}: ${messageOf(cause)}`, {
            cause,
            hint: 'choose another host or port; port 0 is any that is free',
          }),
        )
      server.once('error', fail)
      server.listen({ host, port, backlog: BACKLOG }, () => {
        server.off('error', fail)
        resolve()
      })
    })
    const at = isEverywhere(host) ? '127.0.0.1' : hostInUrl(host)
    const url = `${tls ? 'https' : 'http'}://${at}:${(server.address() as AddressInfo).port}`
    return new Gateway(server, url, { ...options, host }, limits)
  }

  private constructor(
    server: Server,
    url: string,
    { host, apiKey, logger, visitors, extension, dialects = all }: GatewayOptions & { host: string },
    limits: GatewayLimits,
  ) {
    this.url = url
    this.#server = server
    const meter = new Meter()
    const sessions = new Sessions(url, {
      ...{ limits, visitors, masterKey: apiKey },
      onOpen: () => meter.sessions++,
      onClose: (session) => meter.ended(session),
    })
    this.#meter = meter
    this.#sessions = sessions
    const app = gatewayApp({
      ...{ dialects, sessions, limits, meter, logger, host, extension },
      stats: () => this.stats,
      closedBecause: () => this.#closedBecause,
    })
    const unreadable = () => {
      meter.error(400)
      const refusal = { status: 400, code: 'gateway/request', message: 'the request cannot be read' }
      return Response.json(dialects[0].refusal(refusal), { status: 400 })
    }
    // Hono would else put its own Request and Response in place of everybody's.
    server.on('request', getRequestListener(app.fetch, { overrideGlobalObjects: false, errorHandler: unreadable }))
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
      const status = PARSE_STATUS[error.code ?? ''] ?? 400
      meter.error(status)
      if (!socket.writable) return
      socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
    })
  }

  /** A session for one rollout. */
  session(parts: SessionParts): Session {
    if (this.#closing) throw closed()
    return this.#sessions.open(parts)
  }

  get stats(): GatewayStats {
    return this.#meter.read(this.#sessions)
  }

  /** From now on calls are refused with 503, and clients try again later; those in flight go on. */
  pause(): void {
    this.#closedBecause ??= new TrinityError('gateway/paused', 'the server is paused', { hint: 'try again later' })
  }

  resume(): void {
    if (!this.#closing) this.#closedBecause = undefined
  }

  /** Takes no more calls, and waits for those that have begun until `now` is aborted. */
  async drain(now?: AbortSignal): Promise<void> {
    this.pause()
    while (this.stats.callsInFlight > 0 && !now?.aborted) await sleep(DRAIN_MS)
  }

  /** Ends all sessions and their calls, then the server. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const reason = closed()
    this.#closedBecause = reason
    const ended = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const session of this.#sessions) session.end(reason)
    const begun = performance.now()
    const sweep = setInterval(() => {
      // Connections become idle one by one, when their last reply has gone out.
      if (performance.now() - begun < GRACE_MS) this.#server.closeIdleConnections()
      else this.#server.closeAllConnections()
    }, SWEEP_MS)
    await ended
    clearInterval(sweep)
  }
}

function closed(): TrinityError {
  return new TrinityError('gateway/closing', 'the server is closing')
}
