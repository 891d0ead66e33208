import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Gateway } from './index.js'
import { FakeModel, openGateway, rawPost, rawRead, rawSocket } from './plain.fixture.js'

const open: Gateway[] = []
const opened: typeof openGateway = async (options) => {
  const all = await openGateway(options)
  open.push(all.gateway)
  return all
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((gateway) => gateway.close()))
})

const HELLO = JSON.stringify({ say: 'hi' })

describe('connections', () => {
  it('with half a body are refused when time is up', async () => {
    const { gateway, session, model } = await opened({ limits: { bodyMs: 50 } })
    const socket = await rawSocket(gateway)
    socket.write(rawPost(session, HELLO).slice(0, -4))
    expect(await rawRead(socket)).toMatch(/^HTTP\/1\.1 408 .*gateway\/slow-body/s)
    expect(model.begun).toBe(0)
  })

  it('with half a head are refused when time is up', async () => {
    const { gateway } = await opened({ limits: { headerMs: 50 } })
    const socket = await rawSocket(gateway)
    socket.write('POST /v1/say HTTP/1.1\r\nhost: loc')
    expect(await rawRead(socket)).toMatch(/^HTTP\/1\.1 408 /)
  })

  it('that end within a body leave nothing behind', async () => {
    const { gateway, session, model } = await opened()
    const socket = await rawSocket(gateway)
    socket.write(rawPost(session, HELLO).slice(0, -4))
    await expect.poll(() => gateway.stats.callsInFlight).toBe(1)
    socket.destroy()
    await expect.poll(() => gateway.stats).toMatchObject({ callsInFlight: 0, errors: { 499: 1 } })
    expect(model.begun).toBe(0)
  })

  it('under a name that was made to point here are refused', async () => {
    const { gateway, session } = await opened()
    for (const [host, status] of [
      ['evil.example', 403],
      ['127.0.0.1.evil.example:80', 403],
      ['localhost:1', 200],
      ['LOCALHOST', 200],
      ['[::1]:9', 200],
    ] as const) {
      const socket = await rawSocket(gateway)
      socket.write(rawPost(session, HELLO, ['connection: close']).replace(/host: .*/, `host: ${host}`))
      expect(await rawRead(socket)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    }
    const nameless = await rawSocket(gateway)
    nameless.write(rawPost(session, HELLO, ['connection: close']).replace(/host: .*\r\n/, ''))
    expect(await rawRead(nameless)).toMatch(/^HTTP\/1\.1 400 /)
  })

  it('with a body that is longer than it says, or is sent in chunks, meet the limit of size', async () => {
    const { gateway, session } = await opened({ limits: { bodyBytes: 100 } })
    const socket = await rawSocket(gateway)
    const chunk = 'x'.repeat(0x80)
    socket.write(
      rawPost(session, '', ['transfer-encoding: chunked', 'connection: close']).replace(/content-length: .*\r\n/, ''),
    )
    socket.write(`80\r\n${chunk}\r\n0\r\n\r\n`)
    expect(await rawRead(socket)).toMatch(/^HTTP\/1\.1 413 /)
  })

  it('that speak no HTTP are told so', async () => {
    const { gateway } = await opened()
    const socket = await rawSocket(gateway)
    socket.write('hello there\r\n\r\n')
    expect(await rawRead(socket)).toMatch(/^HTTP\/1\.1 400 /)
  })
})

describe('a clock that jumps', () => {
  afterEach(() => {
    vi.restoreAllMocks()
  })

  it('ends no call and no session', async () => {
    const jumps = [0, 1e15, -1e12, 8.64e15, 86_400_000]
    let at = 0
    vi.spyOn(Date, 'now').mockImplementation(() => jumps[at++ % jumps.length])
    const visitors = { open: () => ({ model: new FakeModel() }), models: ['policy'], idleMs: 60_000 }
    const { gateway, session, post } = await opened({
      ...{ fake: { stepMs: 10 }, visitors },
      limits: { callMs: 20_000, bodyMs: 20_000, headerMs: 20_000, unreadMs: 20_000, keepAliveMs: 20_000 },
    })
    const headers = { 'content-type': 'application/json', 'x-session-id': 'a' }
    const visit = () => fetch(`${gateway.url}/v1/say`, { method: 'POST', body: HELLO, headers })
    for (let i = 0; i < 3; i++) {
      expect((await post({ say: 'hi', stream: i === 1 })).status).toBe(200)
      expect((await visit()).status).toBe(200)
    }
    await expect.poll(() => session.calls.filter(({ finished }) => finished).length).toBe(3)
    expect(session.calls.every(({ ms }) => ms > 0 && ms < 20_000)).toBe(true)
    expect(gateway.stats).toMatchObject({ openSessions: 2, errors: {}, callsInFlight: 0 })
  })
})

/** Bodies that are nearly right, in many ways. */
const body = fc.oneof(
  fc.record({ say: fc.string(), stream: fc.boolean() }).map((value) => JSON.stringify(value)),
  fc.json({ maxDepth: 6 }),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc
    .record(
      {
        say: fc.oneof(fc.string(), fc.jsonValue()),
        stream: fc.oneof(fc.boolean(), fc.jsonValue()),
        model: fc.jsonValue(),
        after: fc.jsonValue(),
        __proto__: fc.jsonValue(),
      },
      { requiredKeys: [] },
    )
    .map((value) => JSON.stringify(value)),
  fc.integer({ min: 1, max: 300 }).map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
)
const path = fc.oneof(
  { weight: 4, arbitrary: fc.constant('/say') },
  fc.constantFrom('/models', '/models/%00', '/models/%E0%A4%A', '/say/', '//say', '/../say', '/s%61y', ''),
  fc.webPath(),
)
const method = fc.oneof({ weight: 5, arbitrary: fc.constant('POST') }, fc.constantFrom('GET', 'PUT', 'DELETE', 'HEAD'))
const key = fc.oneof({ weight: 6, arbitrary: fc.constant(undefined) }, fc.constantFrom('a', 'b', 'c'))

const SOCKETS = 20

describe('10,000 requests of all kinds', () => {
  it('get a status that fits, and only what was answered is recorded', async () => {
    const { gateway, session, model, post } = await opened({
      fake: { text: 'ok' },
      // A busy machine may take long for all of them, which wait in line on their connections.
      limits: { replies: 50, callsPerSession: 10_000, calls: 10_000, headerMs: 600_000, bodyMs: 600_000 },
    })
    // A few hundred of each part, put together in ever other ways.
    const [methods, paths, bodies, keys] = [method, path, body, key].map((part, i) =>
      fc.sample(part as fc.Arbitrary<string | undefined>, { numRuns: [29, 61, 331, 53][i], seed: 16 }),
    )
    const requests = Array.from({ length: 10_000 }, (_, i) =>
      [methods, paths, bodies, keys].map((part) => part[i % part.length]),
    )
    const texts = requests.map(([how, where, text, idempotency], i) => {
      const lines: string[] = idempotency === undefined ? [] : [`idempotency-key: ${idempotency}`]
      // Connections take their next request before the last is answered, and end after the last.
      if (i >= requests.length - SOCKETS) lines.push('connection: close')
      return rawPost(session, text ?? '', lines).replace(/^POST (.*)\/say /, `${how} $1${where} `)
    })
    const statuses = await Promise.all(
      Array.from({ length: SOCKETS }, async (_, lane) => {
        const socket = await rawSocket(gateway)
        socket.write(texts.filter((_, i) => i % SOCKETS === lane).join(''))
        return [...(await rawRead(socket)).matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status))
      }),
    )
    const seen = new Set(statuses.flat())
    expect([...seen].filter((status) => ![200, 400, 404, 405].includes(status))).toEqual([])
    expect(statuses.flat()).toHaveLength(requests.length)
    expect(seen.size).toBe(4)
    expect(model.recorded).toBeGreaterThan(100)
    expect(session.calls.length).toBe(model.recorded)
    expect(session.calls.every(({ finished }) => finished)).toBe(true)
    expect(gateway.stats.callsInFlight).toBe(0)
    expect((await post(HELLO)).status).toBe(200)
  }, 120_000)
})
