import type { HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { type Context, Hono } from 'hono'
import { TrinityError } from '../base/error.js'
import type { Logger } from '../base/log/logger.js'
import type { Dialect, Wire } from '../dialect/dialect.js'
import { NoteLog, type RequestNotes } from '../dialect/request-notes.js'
import { Call } from './call.js'
import { type Extension, extensionBody, gaugesText, wantsText } from './extension.js'
import { Flusher } from './flusher.js'
import { checkSender } from './guard.js'
import type { GatewayLimits } from './limits.js'
import type { GatewayStats, Meter } from './meter.js'
import { prometheusText, referenceMetrics } from './metrics-text.js'
import { modelList, modelWire } from './models.js'
import { JSON_TYPE, refuse, send } from './send.js'
import { busy, OpenSession } from './session.js'
import { type SessionResolver, unknownSession } from './sessions.js'

export interface AppParts {
  readonly dialects: readonly Dialect[]
  readonly sessions: SessionResolver
  readonly limits: GatewayLimits
  readonly meter: Meter
  readonly logger?: Logger
  /** The address that the server listens at. */
  readonly host: string
  readonly stats: () => GatewayStats
  readonly extension?: Extension
  /** Why no call is taken now. */
  readonly closedBecause: () => TrinityError | undefined
}

interface Env {
  Bindings: HttpBindings
}

type Asking = Context<Env>

/** A session stands in the URL, or is found by its key. */
const ROOTS = ['/s/:session/v1', '/v1']

/**
 * What a gateway answers to. Responses go straight to the socket: a stream must know how far behind its reader is, and
 * when it has left.
 */
export function gatewayApp(parts: AppParts): Hono<Env> {
  const { dialects, sessions, limits, meter, stats, extension } = parts
  const app = new Hono<Env>()
  const flusher = new Flusher()
  const noteLog = new NoteLog()
  const onNotes = (notes: RequestNotes, session: OpenSession) => {
    meter.notes.add(notes)
    const logger = session.parts.logger ?? parts.logger
    if (logger) noteLog.add(notes, logger)
  }
  const dialectOf = (path: string) => dialects.find((one) => path.includes(`/v1${one.path}`)) ?? dialects[0]
  const asking = (c: Asking) => ({ id: c.req.param('session'), headers: c.env.incoming.headers })
  const sendWire = (c: Asking, wire: Wire, status = 200) => {
    send(c.env.outgoing, status, JSON_TYPE, JSON.stringify(wire))
    return RESPONSE_ALREADY_SENT
  }
  const fail = (c: Asking, error: unknown, headers = {}) => {
    // What is left of the body is no part of the next request on this connection.
    c.env.incoming.resume()
    const status = refuse(c.env.outgoing, dialectOf(c.req.path), error, headers)
    meter.error(status)
    if (status >= 500) parts.logger?.error(`${c.req.method} ${c.req.path}: ${status}`, error)
    return RESPONSE_ALREADY_SENT
  }

  app.onError((error, c) => fail(c, error))
  app.notFound((c) => {
    const there = [...dialects.map(({ path }) => `POST /v1${path}`), 'GET /v1/models', 'GET /health', 'GET /metrics']
    there.push(...Object.keys(extension?.posts ?? {}).map((path) => `POST ${path}`))
    const hint = `there are ${there.join(', ')}; before /v1 may stand /s/<session>`
    return fail(c, new TrinityError('gateway/route', `there is nothing at ${c.req.path}`, { hint }))
  })
  app.use(async (c, next) => {
    checkSender(c.env.incoming.headers, parts.host)
    await next()
  })

  // Clients probe their base URL, without a key.
  app.use('/s/:session/*', async (c, next) => {
    if (c.req.method !== 'HEAD') return next()
    if (!sessions.has(c.req.param('session'))) throw unknownSession(c.req.param('session'))
    send(c.env.outgoing, 200, JSON_TYPE, '')
    return RESPONSE_ALREADY_SENT
  })

  const route = (method: 'get' | 'post', path: string, answer: (c: Asking) => Response | Promise<Response>) => {
    app[method](path, answer)
    const allow = method.toUpperCase()
    app.all(path, (c) => fail(c, new TrinityError('gateway/method', `only ${allow} is answered here`), { allow }))
  }
  for (const root of ROOTS) {
    for (const dialect of dialects) route('post', root + dialect.path, (c) => call(c, dialect))
    route('get', `${root}/models`, (c) => sendWire(c, modelList(sessions.modelNames(asking(c)))))
    route('get', `${root}/models/:model{.+}`, (c) => {
      const name = c.req.param('model')!
      const whose = sessions.resolve(asking(c))
      if (whose instanceof OpenSession) whose.modelOf(name)
      return sendWire(c, modelWire(name))
    })
  }
  route('get', '/health', (c) => {
    const reason = parts.closedBecause()
    return sendWire(c, { status: reason ? reason.message : 'ok' }, reason ? 503 : 200)
  })
  route('get', '/metrics', (c) => {
    sessions.checkMaster(c.env.incoming.headers)
    const more = extension?.metrics() ?? {}
    const asked = { format: c.req.query('format'), accept: c.req.header('accept') }
    if (!wantsText(asked, extension !== undefined)) return sendWire(c, { ...referenceMetrics(stats()), ...more })
    const text = prometheusText(stats()) + gaugesText(more)
    send(c.env.outgoing, 200, 'text/plain; version=0.0.4; charset=utf-8', text)
    return RESPONSE_ALREADY_SENT
  })
  for (const [path, answer] of Object.entries(extension?.posts ?? {})) {
    route('post', path, async (c) => {
      sessions.checkMaster(c.env.incoming.headers)
      return sendWire(c, await answer(await extensionBody(c.env.incoming, limits)))
    })
  }
  return app

  async function call(c: Asking, dialect: Dialect): Promise<Response> {
    meter.requests++
    const closed = parts.closedBecause()
    if (closed) throw closed
    const whose = sessions.resolve(asking(c))
    if (meter.callsInFlight >= limits.calls) throw busy('the server', limits.calls)
    const { incoming, outgoing } = c.env
    await new Call({ incoming, outgoing, dialect, whose, limits, meter, flusher, onNotes }).run()
    return RESPONSE_ALREADY_SENT
  }
}
