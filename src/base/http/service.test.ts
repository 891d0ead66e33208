import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { HttpError, HttpService, type HttpServiceOptions } from './index.js'

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void
let server: Server
let url: string
let handle: Handler
let seen: { url?: string; headers: IncomingMessage['headers']; body: string; port?: number }[] = []

beforeAll(async () => {
  server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    seen.push({ url: request.url, headers: request.headers, body, port: request.socket.remotePort })
    handle(request, response, body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  seen = []
})

const Answer = z.object({ n: z.number() })
const service = (options: Partial<HttpServiceOptions> = {}) =>
  new HttpService({ name: 'the test server', baseUrl: url, code: 'test', deadlineMs: 3000, ...options })
const quick = { times: 3, firstMs: 1 }
const ask = (one: HttpService, options = {}) => one.json('POST', '/x', { a: 1 }, Answer, options)
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail('no error'),
    (error) => error as HttpError,
  )

/** Answers in turn; the last one again and again. */
const inTurn = (...all: ((response: ServerResponse) => void)[]) => {
  let at = 0
  handle = (_, response) => all[Math.min(at++, all.length - 1)](response)
}
const status =
  (code: number, body = '', headers = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(code, headers).end(body)
const good = (response: ServerResponse) => void response.end('{"n":7}')
const hangUp = (response: ServerResponse) => void response.socket?.destroy()

describe('HttpService', () => {
  it('sends JSON, its headers and nothing else of its own, and checks the answer', async () => {
    handle = (_, response) => good(response)
    const one = service({ headers: () => ({ authorization: 'Bearer key-1234567' }) })
    expect(await ask(one)).toEqual({ n: 7 })
    expect(seen[0]).toMatchObject({ url: '/v1/x', body: '{"a":1}' })
    expect(seen[0].headers).toMatchObject({ authorization: 'Bearer key-1234567', 'content-type': 'application/json' })
    expect(one.counts).toEqual({ requests: 1, retries: 0 })
  })

  it('keeps connections, and no more than it may', async () => {
    handle = (_, response) => void setTimeout(() => good(response), 5)
    const one = service({ connections: 3 })
    await Promise.all(Array.from({ length: 30 }, () => ask(one)))
    expect(new Set(seen.map(({ port }) => port)).size).toBe(3)
    one.close()
  })

  it('sends and gets bytes', async () => {
    handle = (request, response, body) => response.end(`${request.method} ${body}`)
    const { bytes, status } = await service().send('PUT', '/raw', Buffer.from('abc'))
    expect([status, Buffer.from(bytes).toString()]).toEqual([200, 'PUT abc'])
    expect(seen[0].headers['content-type']).toBeUndefined()
  })

  it('says which server, which route, which status and what the server says', async () => {
    inTurn(status(400, '{"error":{"message":"n must be 1"}}'))
    const error = await failure(ask(service()))
    expect(error).toMatchObject({ code: 'test/refused', status: 400, said: 'n must be 1', path: url })
    expect(error.message).toBe(`the test server: POST ${url}/x: 400 n must be 1`)
  })

  it('never shows a key, also where the server says it back', async () => {
    const key = 'sk-echo-98765-abcdef'
    handle = (request, response) => response.writeHead(401).end(`wrong key: ${request.headers.authorization}`)
    const error = await failure(ask(service({ headers: () => ({ authorization: `Bearer ${key}` }) })))
    expect(error).toMatchObject({ code: 'test/unauthorized', hint: 'check the key' })
    expect(JSON.stringify(error) + error.stack + error.said).not.toContain('sk-echo')
    const named = await failure(ask(service({ baseUrl: url.replace('//', '//me:hidden-pass@') })))
    expect(seen[1].headers.authorization).toMatch(/^Basic /)
    expect(JSON.stringify(named) + named.message).not.toContain('hidden-pass')
  })

  it('does not follow redirects', async () => {
    inTurn(status(307, '', { location: 'http://elsewhere.example/v1' }))
    const error = await failure(ask(service({ retries: quick })))
    expect(error).toMatchObject({ code: 'test/redirect', message: expect.stringContaining('307 (to http://elsewhere') })
    expect(seen).toHaveLength(1)
  })

  it('refuses what is no JSON, not of the form, or too large', async () => {
    inTurn(
      status(200, '<html><title>Log in</title></html>', { 'content-type': 'text/html' }),
      status(200, ''),
      status(200, '{"n":"seven"}'),
      status(200, `{"n":1,"more":"${'x'.repeat(5000)}"}`),
    )
    const one = service({ maxBytes: 1000 })
    const messages: string[] = []
    for (let i = 0; i < 4; i++) {
      const error = await failure(ask(one))
      expect(error.code).toBe('test/answer')
      messages.push(error.message.slice(error.message.indexOf('the answer')))
    }
    expect(messages[0]).toBe('the answer is no JSON: Log in')
    expect(messages[1]).toBe('the answer is no JSON: it is empty')
    expect(messages[2]).toMatch(/^the answer is not of the expected form: n: .*number/)
    expect(messages[3]).toBe('the answer is too large: more than 1000 bytes')
  })
})

describe('repetitions of an HttpService', () => {
  it('repeats what may pass, and counts it', async () => {
    inTurn(status(503), status(429), hangUp, status(500), good)
    const one = service({ retries: { times: 4, firstMs: 1 } })
    expect(await ask(one)).toEqual({ n: 7 })
    expect(one.counts).toEqual({ requests: 5, retries: 4 })
  })

  it('repeats nothing unless it is told to, and not what cannot pass', async () => {
    inTurn(status(503))
    expect(await failure(ask(service()))).toMatchObject({ code: 'test/failed' })
    inTurn(status(422))
    expect(await failure(ask(service({ retries: quick })))).toMatchObject({ code: 'test/refused' })
    expect(seen).toHaveLength(2)
  })

  it('does nothing twice that must happen once', async () => {
    const one = service({ retries: quick })
    inTurn(status(429), good)
    expect(await ask(one, { once: true })).toEqual({ n: 7 })
    for (const maybeDone of [hangUp, status(502)]) {
      inTurn(maybeDone, good)
      expect(await failure(ask(one, { once: true }))).toBeInstanceOf(HttpError)
    }
  })

  it('asks for a refused connection again in either case, and says that nobody is there', async () => {
    const one = service({ baseUrl: 'http://127.0.0.1:1', retries: quick })
    const error = await failure(ask(one, { once: true }))
    expect(error).toMatchObject({ code: 'test/unreachable', isUndone: true, status: undefined })
    expect(error.message).toContain('ECONNREFUSED')
    expect(one.counts.requests).toBe(4)
  })

  it('does not wait for one that must be there and never was, but for one that was', async () => {
    const nobody = service({ baseUrl: 'http://127.0.0.1:1', retries: quick, mustBeThere: true })
    expect(await failure(ask(nobody))).toMatchObject({ code: 'test/absent', isAbsent: true, isPassing: false })
    expect(nobody.counts.requests).toBe(1)
    const leaving = createServer((_, response) => good(response.setHeader('connection', 'close')))
    await new Promise<void>((resolve) => leaving.listen(0, '127.0.0.1', resolve))
    const { port } = leaving.address() as AddressInfo
    const one = service({ baseUrl: `http://127.0.0.1:${port}`, retries: quick, mustBeThere: true })
    await ask(one)
    leaving.close()
    expect(await failure(ask(one))).toMatchObject({ code: 'test/unreachable', isAbsent: false, isPassing: true })
    expect(one.counts.requests).toBe(5)
  })

  it('comes back when the server says, or gives up at once where that is too late', async () => {
    inTurn(status(429, '', { 'retry-after-ms': '80' }), good)
    const begun = performance.now()
    await ask(service({ retries: quick }))
    expect(performance.now() - begun).toBeGreaterThan(79)
    inTurn(status(429, 'slow down', { 'retry-after': '3600' }))
    const error = await failure(ask(service({ retries: quick })))
    expect(error).toMatchObject({ code: 'test/busy', retryAfterMs: 3_600_000, said: 'slow down' })
    expect(performance.now() - begun).toBeLessThan(10_000)
  })

  it('ends at its deadline: in silence, in a drip, in the middle of repetitions', async () => {
    const drip = (response: ServerResponse) => {
      const timer = setInterval(() => response.write(' '), 10)
      response.on('close', () => clearInterval(timer))
    }
    for (const hostile of [() => {}, drip, status(503)]) {
      inTurn(hostile)
      const error = await failure(ask(service(), { deadlineMs: 100, retries: { times: 1e9, firstMs: 10, mostMs: 10 } }))
      expect(['test/deadline', 'test/failed']).toContain(error.code)
    }
  })

  it('ends with the reason of who gives up, also while it waits', async () => {
    for (const hostile of [() => {}, status(503)]) {
      inTurn(hostile)
      const mine = new AbortController()
      const waiting = failure(ask(service({ retries: { times: 9, firstMs: 1000 } }), { signal: mine.signal }))
      setTimeout(() => mine.abort(new Error('enough')), 30)
      expect((await waiting).message).toBe('enough')
    }
    const before = await failure(ask(service(), { signal: AbortSignal.abort(new Error('never')) }))
    expect(before.message).toBe('never')
  })

  it('takes half an answer for none', async () => {
    const half = (response: ServerResponse) => {
      response.writeHead(200, { 'content-length': '7' }).write('{"n":')
      setTimeout(() => response.socket?.destroy(), 10)
    }
    inTurn(half, good)
    expect(await ask(service({ retries: quick }))).toEqual({ n: 7 })
    inTurn(half)
    expect(await failure(ask(service()))).toMatchObject({ code: 'test/cut' })
  })
})

describe('events of an HttpService', () => {
  const stream = { 'content-type': 'text/event-stream; charset=utf-8' }
  const read = async (one: HttpService, options = {}, most = Number.POSITIVE_INFINITY) => {
    const got: string[] = []
    for await (const data of one.events('/s', {}, options)) if (got.push(data) >= most) break
    return got
  }

  it('come one by one', async () => {
    inTurn(status(503), status(200, 'data: a\n\ndata: b\n\n', stream))
    expect(await read(service({ retries: quick }))).toEqual(['a', 'b'])
  })

  it('end the request where nobody listens any more', async () => {
    const closed = new Promise<void>((resolve) => {
      handle = (_, response) => {
        response.writeHead(200, stream)
        const timer = setInterval(() => response.write('data: x\n\n'), 5)
        response.on('close', () => resolve(clearInterval(timer)))
      }
    })
    expect(await read(service(), {}, 2)).toEqual(['x', 'x'])
    await closed
  })

  it('throw when they break off, take too long, or are none', async () => {
    inTurn((response) => {
      response.writeHead(200, stream).write('data: a\n\n')
      setTimeout(() => response.socket?.destroy(), 10)
    })
    expect(await failure(read(service()))).toMatchObject({ code: 'test/cut' })
    inTurn((response) => void response.writeHead(200, stream).write('data: a\n\n'))
    expect(await failure(read(service(), { deadlineMs: 50 }))).toMatchObject({ code: 'test/deadline' })
    inTurn(status(200, '{"n":7}', { 'content-type': 'application/json' }))
    expect(await failure(read(service()))).toMatchObject({ code: 'test/answer' })
    inTurn(status(404, '{"detail":"Not Found"}'))
    expect(await failure(read(service()))).toMatchObject({ code: 'test/not-found', said: 'Not Found' })
  })
})
