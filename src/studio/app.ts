import type { HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import { TrinityError } from '../base/error.js'
import { checkHost, checkOrigin } from '../gateway/guard.js'
import { answerAct } from './act.js'
import type { Door } from './door.js'
import { errorBody } from './error-body.js'
import { pageFile } from './page.js'
import { type Part, Query } from './part.js'
import { statusOf } from './status.js'

export interface AppParts {
  readonly door: Door
  /** The address that the server listens at. */
  readonly host: string
  /** Folder of the built page. */
  readonly page?: string
  /** What stands below `/api`. */
  readonly parts: readonly Part[]
}

interface Env {
  Bindings: HttpBindings
}

/** CodeMirror writes its styles into the page; scripts come from files alone. */
const CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': CSP,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
}

/**
 * What Studio answers to. The page itself is public code and needs no key, so that a link to it works from anywhere; what it
 * shows comes from `/api`, which asks for the cookie and for a page of this very server.
 */
export function studioApp({ door, host, page, parts }: AppParts): Hono<Env> {
  const app = new Hono<Env>()
  app.use(async (c, next) => {
    checkHost(c.env.incoming.headers, host)
    await next()
    for (const [name, value] of Object.entries(HEADERS)) c.header(name, value)
  })
  app.onError((error, c) => {
    const status = statusOf(error)
    return c.json(errorBody(error), status, { ...HEADERS })
  })
  app.use('/api/*', async (c, next) => {
    checkOrigin(c.env.incoming.headers)
    door.check(c.req.header('cookie'))
    await next()
  })
  for (const part of parts) {
    if ('act' in part) {
      app.post(`/api${part.path}`, (c) => answerAct(c, part))
      continue
    }
    app.get(`/api${part.path}`, async (c) => {
      const query = new Query(c.req.queries())
      const run = c.req.param('run') ?? ''
      return 'events' in part ? part.events(c, query, run) : c.json(await part.answer(query, run))
    })
  }
  app.all('/api/*', (c) => {
    throw new TrinityError('studio/no-route', `there is nothing at ${c.req.method} ${c.req.path}`)
  })
  app.get('*', async (c) => {
    const token = c.req.query('token')
    if (token !== undefined) {
      const cookie = door.exchange(token)
      if (cookie === undefined) door.check(c.req.header('cookie'))
      else c.header('set-cookie', cookie)
      return c.redirect(c.req.path, 303)
    }
    const file = await pageFile(c.req.path, page)
    if (!file) throw new TrinityError('studio/no-file', `the page has no file ${c.req.path}`)
    return c.body(new Uint8Array(file.body), 200, { 'content-type': file.type })
  })
  app.all('*', (c) => {
    throw new TrinityError('studio/no-route', `there is nothing at ${c.req.method} ${c.req.path}`)
  })
  return app
}
