import { afterEach, describe, expect, it } from 'vitest'
import { dialects } from '../dialect/dialects.js'
import type { Gateway, GatewayOptions, VisitorOptions } from './index.js'
import { Gateway as Server } from './index.js'
import { FakeModel, type FakeOptions } from './plain.fixture.js'

const open: Gateway[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((gateway) => gateway.close()))
})

type Message = { role: string; content: string }

/** A server that lets everybody in, and the models of its visitors in the order in which they came. */
async function opened(
  options: Omit<GatewayOptions, 'visitors'> & { fake?: FakeOptions; visitors?: Partial<VisitorOptions> } = {},
) {
  const { fake, visitors, ...rest } = options
  const names: (string | undefined)[] = []
  const models: FakeModel[] = []
  const gateway = await Server.open({
    dialects,
    ...rest,
    visitors: {
      open: ({ name }) => {
        names.push(name)
        models.push(new FakeModel(fake))
        return { model: models[models.length - 1] }
      },
      models: ['policy'],
      ...visitors,
    },
  })
  open.push(gateway)
  const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const response = await fetch(`${gateway.url}/v1${path}`, {
      ...{ method: 'POST', body: JSON.stringify(body) },
      headers: { 'content-type': 'application/json', ...headers },
    })
    return { status: response.status, wire: (await response.json()) as { id: string } }
  }
  const chat = (messages: Message[], more: object = {}, headers?: Record<string, string>) =>
    post('/chat/completions', { messages, ...more }, headers)
  return { gateway, names, models, post, chat, calls: () => models.map(({ begun }) => begun) }
}

const HI: Message = { role: 'user', content: 'hi' }
const HELLO: Message = { role: 'assistant', content: 'hello' }
const MORE: Message = { role: 'user', content: 'more' }

describe('visitors', () => {
  it('have the session that they name, in headers or in the body', async () => {
    const { chat, post, names, calls } = await opened()
    for (const header of ['x-session-id', 'x-trinity-session', 'session-id']) await chat([HI], {}, { [header]: 'a' })
    await chat([HI], { user: 'a' })
    await chat([HI], { metadata: { session_id: 'a' }, user: 'b' })
    await chat([HI], { user: 'b' })
    await post('/messages', { messages: [HI], max_tokens: 9, metadata: { user_id: 'b' } })
    await post('/responses', { input: 'hi', metadata: { session: 'c' } })
    for (const last of 'xxy') await chat([HI], { user: 'long'.repeat(1000) + last })
    expect(names.slice(0, 3)).toEqual(['a', 'b', 'c'])
    expect(names.slice(3).every((name) => name!.length < 100)).toBe(true)
    expect(calls()).toEqual([5, 2, 1, 2, 1])
  })

  it('else the session of the conversation that they go on with', async () => {
    const { chat, post, names, calls } = await opened()
    await chat([HI])
    await chat([HI, HELLO, MORE])
    await chat([HI, HELLO, MORE, HELLO, MORE], { stream: false })
    // an agent that goes back, in another dialect
    await post('/messages', { messages: [HI, HELLO, HI], max_tokens: 9 })
    expect([names, calls()]).toEqual([[undefined], [4]])
    await chat([HI])
    await chat([MORE, HELLO, HI])
    expect(calls()).toEqual([4, 1, 1])
  })

  it('that begin alike are told apart as far as can be', async () => {
    const { chat, calls } = await opened()
    for (let i = 0; i < 3; i++) await chat([HI])
    for (let i = 0; i < 3; i++) await chat([HI, HELLO, MORE])
    expect(calls()).toEqual([2, 2, 2])
  })

  it('go on from a reply that they name', async () => {
    const { post, calls } = await opened()
    const { wire } = await post('/responses', { input: 'hi' })
    const next = await post('/responses', { input: 'more', previous_response_id: wire.id })
    expect([next.status, calls()]).toEqual([200, [2]])
    expect((await post('/responses', { input: 'more', previous_response_id: 'resp_none' })).status).toBe(400)
    expect(calls()).toEqual([2])
  })

  it('that send a request again get the same answer', async () => {
    const { chat, calls, gateway } = await opened()
    const [a, b] = await Promise.all([1, 2].map(() => chat([HI], {}, { 'idempotency-key': 'k' })))
    const c = await chat([HI], {}, { 'idempotency-key': 'k' })
    expect([b.wire.id, c.wire.id]).toEqual([a.wire.id, a.wire.id])
    expect(calls()).toEqual([1])
    expect((await chat([MORE], {}, { 'idempotency-key': 'k' })).status).toBe(400)
    expect(gateway.stats.retries).toBe(2)
  })

  it('need the key of the server where it has one, and a dead key opens nothing', async () => {
    const guarded = await opened({ apiKey: 'master' })
    expect((await guarded.chat([HI])).status).toBe(401)
    expect((await guarded.chat([HI], {}, { 'x-api-key': 'master' })).status).toBe(200)
    const { chat, gateway } = await opened()
    expect((await chat([HI], {}, { 'x-api-key': 'anything' })).status).toBe(200)
    const session = gateway.session({ model: new FakeModel(), id: 'rollout' })
    session.close()
    expect((await chat([HI], {}, { 'x-api-key': session.apiKey })).status).toBe(401)
  })

  it('reach the session of a rollout by its name only with the key of the server', async () => {
    const guarded = await opened({ apiKey: 'master' })
    const session = guarded.gateway.session({ model: new FakeModel(), id: 'rollout' })
    const key = { 'x-api-key': 'master' }
    await guarded.chat([HI], {}, { ...key, 'x-session-id': 'rollout' })
    const { wire } = await guarded.post('/responses', { input: 'hi', user: 'rollout' }, key)
    await guarded.post('/responses', { input: 'hi', user: 'rollout', previous_response_id: wire.id }, key)
    await guarded.post('/responses', { input: 'hi', previous_response_id: wire.id }, key)
    expect([session.calls.length, guarded.models.length]).toEqual([4, 0])
    const { gateway, chat, models } = await opened()
    const other = gateway.session({ model: new FakeModel(), id: 'rollout' })
    await chat([HI], {}, { 'x-session-id': 'rollout' })
    expect([other.calls.length, models.length]).toEqual([0, 1])
  })

  it('end when they are silent for long, or others need the place', async () => {
    const { chat, gateway, names } = await opened({ visitors: { most: 2 } })
    for (const user of ['a', 'b', 'a', 'c', 'a']) await chat([HI], { user })
    expect([names, gateway.stats.openSessions]).toEqual([['a', 'b', 'c'], 2])
    await chat([HI], { user: 'b' })
    expect(names).toEqual(['a', 'b', 'c', 'b'])
    const brief = await opened({ visitors: { idleMs: 1 } })
    for (const user of ['a', 'b', 'c']) {
      await brief.chat([HI], { user })
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    expect(brief.gateway.stats.openSessions).toBe(1)
  })

  it('are refused when all places are at work', async () => {
    const { chat, models } = await opened({ visitors: { most: 1 }, fake: { stepMs: 20 } })
    const first = chat([HI], { user: 'a' })
    await expect.poll(() => models[0]?.begun).toBe(1)
    expect((await chat([HI], { user: 'b' })).status).toBe(429)
    expect((await first).status).toBe(200)
    expect((await chat([HI], { user: 'b' })).status).toBe(200)
  })

  it('who call for ever under one name get a new session now and then', async () => {
    const { chat, names, gateway } = await opened({ visitors: { calls: 3 } })
    for (let i = 0; i < 4; i++) await chat([HI], { user: 'app' })
    expect(names).toEqual(['app', 'app'])
    await chat([HI], { user: 'other' })
    expect(gateway.stats.openSessions).toBe(2)
  })

  it('see the models', async () => {
    const { gateway } = await opened()
    const list = await (await fetch(`${gateway.url}/v1/models`)).json()
    expect(list).toMatchObject({ data: [{ id: 'policy' }] })
    expect((await fetch(`${gateway.url}/v1/models/gpt`)).status).toBe(200)
  })

  it('are refused where nobody said how to meet them', async () => {
    const gateway = await Server.open({ dialects, apiKey: 'master' })
    open.push(gateway)
    const init = { method: 'POST', body: JSON.stringify({ messages: [HI] }) }
    const headers = { 'content-type': 'application/json', 'x-api-key': 'master' }
    const response = await fetch(`${gateway.url}/v1/chat/completions`, { ...init, headers })
    expect(response.status).toBe(404)
    expect(await response.text()).toContain('does not say its session')
    expect((await fetch(`${gateway.url}/v1/models`, { headers })).status).toBe(404)
  })
})
