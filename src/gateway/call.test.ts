import { afterEach, describe, expect, it } from 'vitest'
import type { Answered } from '../dialect/chat-model.js'
import type { Gateway } from './index.js'
import { openGateway, rawPost, rawSocket } from './plain.fixture.js'

const open: Gateway[] = []
const opened: typeof openGateway = async (options) => {
  const all = await openGateway(options)
  open.push(all.gateway)
  return all
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((gateway) => gateway.close()))
})

const HELLO = { say: 'hi' }
/** Far more than sockets hold: the answer is sampled long before it is read. */
const WIDE = { say: 'hi', stream: true, wide: 100_000 }
const WIDE_TEXT = JSON.stringify(WIDE)
const LONG = { text: 'x'.repeat(200) }
const SLOW = { stepMs: 10, text: 'x'.repeat(1000) }

describe('a client that leaves', () => {
  it.each([false, true])('stops the sampling, and nothing is recorded (stream: %s)', async (stream) => {
    const { post, model, session, gateway } = await opened({ fake: SLOW })
    const control = new AbortController()
    const call = post({ ...HELLO, stream }, { signal: control.signal }).then((response) => response.text())
    await expect.poll(() => model.begun).toBe(1)
    control.abort()
    await expect(call).rejects.toThrow()
    await expect.poll(() => model.stopped).toBe(1)
    await expect.poll(() => gateway.stats).toMatchObject({ errors: { 499: 1 }, callsInFlight: 0, answers: 0 })
    expect(session.calls).toEqual([])
  })

  it('after its answer was sampled is told of', async () => {
    const lost: Answered[] = []
    const { gateway, model, session } = await opened({
      fake: LONG,
      limits: { unreadBytes: 1000 },
      parts: { onUnanswered: (answers) => lost.push(...answers) },
    })
    const socket = await rawSocket(gateway)
    socket.write(rawPost(session, WIDE_TEXT))
    await expect.poll(() => model.recorded).toBe(1)
    expect(lost).toEqual([])
    socket.destroy()
    await expect.poll(() => lost.length).toBe(1)
    expect(session.calls.filter(({ finished }) => finished)).toEqual([])
  })

  it('is cut when it does not read', async () => {
    const { model, gateway, session } = await opened({ fake: LONG, limits: { unreadBytes: 1000, unreadMs: 100 } })
    const socket = await rawSocket(gateway)
    socket.write(rawPost(session, WIDE_TEXT))
    await expect.poll(() => model.recorded).toBe(1)
    await expect.poll(() => gateway.stats.errors, { timeout: 5000 }).toEqual({ 499: 1 })
    socket.destroy()
  })
})

describe('limits', () => {
  it('of calls at once, in all and of one session', async () => {
    for (const limits of [{ calls: 2 }, { callsPerSession: 2 }]) {
      const { post, model, session } = await opened({ fake: SLOW, limits })
      const calls = [post(HELLO), post(HELLO)]
      await expect.poll(() => model.begun).toBe(2)
      const refused = await post(HELLO)
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
      session.close()
      for (const call of calls) expect((await call).status).toBe(404)
    }
  })

  it('of the time of a call', async () => {
    const { post, model } = await opened({ fake: SLOW, limits: { callMs: 50 } })
    expect((await post(HELLO)).status).toBe(504)
    await expect.poll(() => model.stopped).toBe(1)
  })

  it('keep a silent stream alive', async () => {
    const { post } = await opened({ fake: { stepMs: 60, text: 'ab' }, limits: { keepAliveMs: 20 } })
    const text = await (await post({ ...HELLO, stream: true })).text()
    expect(text).toContain(': keep-alive\n\n')
    expect(text.replaceAll(': keep-alive\n\n', '')).toMatch(
      /^event: start\ndata: re-.*\n\ndata: a\n\ndata: b\n\ndata: \[DONE\]\n\n$/,
    )
  })
})

describe('a request that is sent again with its idempotency-key', () => {
  const again = { headers: { 'idempotency-key': 'one', 'x-stainless-retry-count': '1' } }

  it.each([false, true])('gets the same answer, sampled once (stream: %s)', async (stream) => {
    const { post, model, session, gateway } = await opened({ fake: { stepMs: 5 } })
    const bodies = await Promise.all([1, 2, 3].map(async () => (await post({ ...HELLO, stream }, again)).text()))
    bodies.push(await (await post({ ...HELLO, stream }, again)).text())
    expect(new Set(bodies).size).toBe(1)
    expect(model.recorded).toBe(1)
    expect(session.calls).toHaveLength(1)
    expect(gateway.stats).toMatchObject({ requests: 4, answers: 1, retries: 3 })
    expect((await post({ say: 'something else' }, again)).status).toBe(400)
    const other = gateway.session({ model })
    const headers = { ...again.headers, 'content-type': 'application/json', authorization: `Bearer ${other.apiKey}` }
    const elsewhere = await fetch(`${other.baseURL}/say`, { method: 'POST', body: JSON.stringify(HELLO), headers })
    expect(elsewhere.status).toBe(200)
    expect(model.recorded).toBe(2)
  })

  it('is not guessed: without a key both are sampled', async () => {
    const { post, model } = await opened()
    await post(HELLO)
    await post(HELLO, { headers: { 'x-stainless-retry-count': '1' } })
    expect(model.recorded).toBe(2)
  })

  it('is sampled anew where the first try was not answered', async () => {
    const { post, model, gateway } = await opened({ fake: { stepMs: 100 } })
    const control = new AbortController()
    const first = post(HELLO, { ...again, signal: control.signal })
    await expect.poll(() => model.begun).toBe(1)
    const others = [post(HELLO, again), post(HELLO, again)]
    await expect.poll(() => gateway.stats.callsInFlight).toBe(3)
    control.abort()
    await expect(first).rejects.toThrow()
    for (const other of others) expect((await other).status).toBe(200)
    expect([model.stopped, model.recorded]).toEqual([1, 1])
  })

  it('has what its first try did not get; what nobody got is told of at the end', async () => {
    const lost: Answered[] = []
    const { gateway, post, model, session } = await opened({
      fake: LONG,
      limits: { unreadBytes: 1000 },
      parts: { onUnanswered: (answers) => lost.push(...answers) },
    })
    const unread = async (key: string) => {
      const socket = await rawSocket(gateway)
      const { recorded } = model
      socket.write(rawPost(session, WIDE_TEXT, [`idempotency-key: ${key}`]))
      await expect.poll(() => model.recorded).toBe(recorded + 1)
      socket.destroy()
    }
    await unread('one')
    await expect.poll(() => session.calls.length, { timeout: 5000 }).toBe(1)
    expect(session.calls[0].finished).toBe(false)
    const text = await (await post(WIDE_TEXT, again)).text()
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
    await expect.poll(() => session.calls[0].finished).toBe(true)
    await unread('two')
    await expect.poll(() => session.calls.length, { timeout: 5000 }).toBe(2)
    expect(model.recorded).toBe(2)
    session.close()
    await expect.poll(() => lost.length).toBe(1)
  })
})
