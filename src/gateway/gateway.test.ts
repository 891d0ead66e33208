import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { TrinityError } from '../base/error.js'
import { dialects } from '../dialect/dialects.js'
import { Gateway } from './index.js'
import { FakeModel, heard, openGateway, plain } from './plain.fixture.js'

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

describe('a call', () => {
  it('is answered and recorded in its session', async () => {
    const { post, session, gateway } = await opened()
    const response = await post(HELLO)
    const reply = await heard(response)
    expect(response.status).toBe(200)
    expect(reply).toMatchObject({ said: 'hello', model: 'policy', heard: [{ role: 'user', content: 'hi' }] })
    expect(response.headers.get('x-request-id')).toBe(reply.id)
    expect(session.calls).toEqual([
      {
        ...{ id: reply.id, dialect: 'plain', model: 'policy', streamed: false, finished: true },
        ...{ promptTokens: 3, completionTokens: 5, ms: expect.any(Number) },
      },
    ])
    expect(gateway.stats).toMatchObject({ requests: 1, answers: 1, promptTokens: 3, completionTokens: 5, errors: {} })
  })

  it('is streamed as the dialect says', async () => {
    const { post, session, gateway } = await opened()
    const response = await post({ ...HELLO, stream: true })
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const text = await response.text()
    const { id } = session.calls[0]
    const letters = [...'hello'].map((letter) => `data: ${letter}\n\n`).join('')
    expect(text).toBe(`event: start\ndata: ${id}\n\n${letters}data: [DONE]\n\n`)
    expect(session.calls[0]).toMatchObject({ streamed: true, finished: true, completionTokens: 5 })
    expect(gateway.stats.firstToken.count).toBe(1)
    expect(gateway.stats.total.count).toBe(1)
  })

  it('reaches its session by key alone, as Bearer or x-api-key', async () => {
    const { gateway, session } = await opened()
    const body = JSON.stringify(HELLO)
    for (const [name, key] of [
      ['authorization', `Bearer ${session.apiKey}`],
      ['x-api-key', session.apiKey],
    ]) {
      const headers = { 'content-type': 'application/json', [name]: key }
      const response = await fetch(`${gateway.url}/v1/say`, { method: 'POST', body, headers })
      expect(response.status).toBe(200)
    }
    expect(session.calls).toHaveLength(2)
    expect(session.baseURL).toBe(`${session.anthropicBaseURL}/v1`)
  })

  it('goes on from an earlier reply that it names', async () => {
    const { post } = await opened()
    const { id } = await heard(post(HELLO))
    const next = await heard(post({ say: 'and?', after: id }))
    expect(next.heard.map(({ content }) => content)).toEqual(['hi', 'hello', 'and?'])
    expect((await post({ say: 'and?', after: 're-none' })).status).toBe(400)
  })
})

describe('keys', () => {
  it('open one session, and nothing when it has ended', async () => {
    const { gateway, session, post } = await opened()
    const other = gateway.session({ model: new FakeModel() })
    expect(session.apiKey.length).toBeGreaterThan(40)
    for (const authorization of ['', 'Bearer wrong', `Bearer ${other.apiKey}`, `Basic ${session.apiKey}`]) {
      const response = await post(HELLO, { headers: { authorization } })
      expect(response.status).toBe(401)
      expect(await response.json()).toMatchObject({ error: { code: 'invalid_api_key' } })
    }
    expect((await post(HELLO)).status).toBe(200)
    session.close()
    expect((await post(HELLO)).status).toBe(404)
    const headers = { 'content-type': 'application/json', 'x-api-key': session.apiKey }
    const late = await fetch(`${gateway.url}/v1/say`, { method: 'POST', body: '{}', headers })
    expect(late.status).toBe(401)
    expect(gateway.stats).toMatchObject({ openSessions: 1, sessions: 2, errors: { 401: 5, 404: 1 } })
  })

  it('of the whole server opens all sessions and the metrics', async () => {
    const { post, gateway } = await opened({ apiKey: 'master' })
    expect((await post(HELLO, { headers: { authorization: 'Bearer master' } })).status).toBe(200)
    expect((await fetch(`${gateway.url}/metrics`)).status).toBe(401)
    expect((await fetch(`${gateway.url}/metrics`, { headers: { 'x-api-key': 'master' } })).status).toBe(200)
    expect((await fetch(`${gateway.url}/health`)).status).toBe(200)
  })

  it('are required at an address that others reach', async () => {
    await expect(Gateway.open({ host: '0.0.0.0' })).rejects.toMatchObject({ code: 'gateway/no-key' })
    const { post } = await opened({ host: '0.0.0.0', apiKey: 'master' })
    expect((await post(HELLO)).status).toBe(200)
  })
})

describe('sessions', () => {
  it('end with their signal, and so do their calls', async () => {
    const control = new AbortController()
    const { post, model, gateway } = await opened({
      fake: { stepMs: 20, text: 'x'.repeat(500) },
      parts: { signal: control.signal },
    })
    const call = post(HELLO)
    await expect.poll(() => model.begun).toBe(1)
    control.abort()
    expect((await call).status).toBe(404)
    await expect.poll(() => model.stopped).toBe(1)
    expect(gateway.stats.openSessions).toBe(0)
    const dead = gateway.session({ model, signal: control.signal })
    expect((await fetch(`${dead.baseURL}/models`)).status).toBe(404)
  })

  it('have ids that fit a URL, once', async () => {
    const { gateway, model } = await opened({ parts: { id: 'task-1.run_2' } })
    for (const id of ['task-1.run_2', 'a/b', '', '..', 'é']) {
      expect(() => gateway.session({ model, id })).toThrow(expect.objectContaining({ code: 'gateway/session-id' }))
    }
  })

  it('ten thousand of them are cheap', async () => {
    const { gateway, model } = await opened()
    const sessions = Array.from({ length: 10_000 }, () => gateway.session({ model }))
    expect(gateway.stats.openSessions).toBe(10_001)
    const { baseURL, apiKey } = sessions[7777]
    const headers = { authorization: `Bearer ${apiKey}` }
    expect((await fetch(`${baseURL}/models`, { headers })).status).toBe(200)
    for (const session of sessions) session.close()
    expect(gateway.stats).toMatchObject({ openSessions: 1, sessions: 10_001 })
  })
})

describe('models', () => {
  it('are listed, and answer to their names', async () => {
    const judge = new FakeModel({ name: 'j', text: 'fair' })
    const { post, session } = await opened({ parts: { models: { judge } } })
    const headers = { authorization: `Bearer ${session.apiKey}` }
    const list = await heard(fetch(`${session.baseURL}/models`, { headers }))
    expect(list).toMatchObject({ object: 'list', first_id: 'policy', last_id: 'judge', has_more: false })
    expect(list.data.map(({ id }) => id)).toEqual(['policy', 'judge'])
    expect((await heard(post({ ...HELLO, model: 'judge' }))).said).toBe('fair')
    // An agent that was written for a hosted model names that one.
    const hosted = await heard(post({ ...HELLO, model: 'hosted/large' }))
    expect(hosted).toMatchObject({ said: 'hello', model: 'hosted/large' })
    expect(await (await fetch(`${session.baseURL}/models/hosted/large`, { headers })).json()).toMatchObject({
      id: 'hosted/large',
    })
    expect((await heard(post({ ...HELLO, model: '__proto__' }))).said).toBe('hello')
  })

  it('are 404 under other names where the session is strict', async () => {
    const { post, session } = await opened({ parts: { strictModels: true } })
    expect((await post({ ...HELLO, model: 'policy' })).status).toBe(200)
    const unknown = await post({ ...HELLO, model: 'hosted' })
    expect(unknown.status).toBe(404)
    expect(await unknown.json()).toMatchObject({ error: { code: 'model_not_found', param: 'model' } })
    const headers = { authorization: `Bearer ${session.apiKey}` }
    expect((await fetch(`${session.baseURL}/models/hosted`, { headers })).status).toBe(404)
  })
})

describe('what cannot be answered', () => {
  it('has its status, in the shape of the dialect', async () => {
    const { post, session, gateway } = await opened({ limits: { bodyBytes: 1000 } })
    const status = async (body: unknown, init?: Parameters<typeof post>[1]) => {
      const response = await post(body, init)
      expect(await response.json()).toMatchObject({ type: 'error', error: { status: response.status } })
      return response.status
    }
    expect(await status('{"say"')).toBe(400)
    expect(await status('[1]')).toBe(400)
    expect(await status({ say: 1 })).toBe(400)
    expect(await status('['.repeat(200))).toBe(400)
    expect(await status({ say: 'x'.repeat(1000) })).toBe(413)
    expect(await status(HELLO, { headers: { 'content-type': 'text/plain' } })).toBe(415)
    expect(await status(HELLO, { headers: { 'content-encoding': 'gzip' } })).toBe(415)
    expect(await status(HELLO, { path: '/sing' })).toBe(404)
    const put = await post(HELLO, { method: 'PUT' })
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'POST'])
    const origin = { headers: { origin: 'https://elsewhere.example' } }
    expect(await status(HELLO, origin)).toBe(403)
    expect(session.calls).toEqual([])
    expect(gateway.stats.errors).toEqual({ 400: 4, 403: 1, 404: 1, 405: 1, 413: 1, 415: 2 })
  })

  it('tells the errors of models, and nothing of what is not ours', async () => {
    for (const [error, status, code] of [
      [new TrinityError('workflow/prompt-too-long', 'too long', { path: 'messages' }), 400, 'context_length_exceeded'],
      [new TrinityError('engine/busy', 'full'), 429, 'rate_limit_exceeded'],
      [new TrinityError('engine/server-gone', 'gone'), 502, 'engine/server-gone'],
      [new TrinityError('engine/deadline', 'slow'), 504, 'engine/deadline'],
      [new Error('secret at line 7'), 500, 'internal_error'],
    ] as const) {
      const { post, session } = await opened({ fake: { error } })
      for (const stream of [false, true]) {
        const response = await post({ ...HELLO, stream })
        const text = await response.text()
        expect(response.status).toBe(status)
        expect(JSON.parse(text).error.code).toBe(code)
        expect(text).not.toContain('secret')
        expect(response.headers.get('retry-after')).toBe(status === 429 ? '1' : null)
      }
      expect(session.calls).toEqual([])
    }
  })

  it('in mid-stream is the last event', async () => {
    const { post, gateway } = await opened({ fake: { error: new Error('boom'), errorAt: 2, stepMs: 1 } })
    const response = await post({ ...HELLO, stream: true })
    expect(response.status).toBe(200)
    const events = (await response.text()).trim().split('\n\n')
    expect(events.slice(1, 3)).toEqual(['data: h', 'data: e'])
    expect(events[3]).toMatch(/^event: error\ndata: \{"type":"error".*internal_error/)
    expect(gateway.stats.errors).toEqual({ 500: 1 })
  })
})

describe('the server', () => {
  it('refuses for a while when it is paused', async () => {
    const { post, gateway } = await opened()
    gateway.pause()
    const refused = await post(HELLO)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2'])
    expect((await fetch(`${gateway.url}/health`)).status).toBe(503)
    gateway.resume()
    expect((await post(HELLO)).status).toBe(200)
    expect(await (await fetch(`${gateway.url}/health`)).json()).toEqual({ status: 'ok' })
  })

  it('ends its calls when it closes', async () => {
    const { post, gateway, model } = await opened({ fake: { stepMs: 20, text: 'x'.repeat(500) } })
    const calls = [post(HELLO), post({ ...HELLO, stream: true }).then((one) => one.text())] as const
    await expect.poll(() => model.begun).toBe(2)
    await gateway.close()
    expect((await calls[0]).status).toBe(503)
    expect(await calls[1]).toContain('gateway/closing')
    expect(model.recorded).toBe(0)
    await expect(post(HELLO)).rejects.toThrow()
    expect(() => gateway.session({ model })).toThrow('closing')
  })

  it('speaks every API there is, and refuses in its shape', async () => {
    const { post, model } = await opened({ dialects })
    expect(dialects.length).toBeGreaterThan(1)
    for (const { path, refusal } of dialects) {
      const response = await post({}, { path })
      expect([path, response.status]).toEqual([path, 400])
      const shape = refusal({ status: 400, code: '', message: '' })
      expect(Object.keys((await response.json()) as object)).toEqual(Object.keys(shape))
    }
    expect(model.begun).toBe(0)
  })

  it('says when it cannot listen', async () => {
    const { gateway } = await opened()
    const port = Number(new URL(gateway.url).port)
    await expect(Gateway.open({ port, dialects: [plain] })).rejects.toMatchObject({ code: 'gateway/listen' })
    await expect(Gateway.open({ limits: { calls: 0 } })).rejects.toMatchObject({ code: 'gateway/limit' })
  })

  it('speaks HTTPS with a certificate', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-'))
    const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(folder, name))
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'],
        ...['-subj', '/CN=localhost', '-keyout', key, '-out', cert],
      ],
      { stdio: 'ignore' },
    )
    const tls = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
    const { gateway } = await opened({ tls })
    expect(gateway.url).toMatch(/^https:/)
    const status = await new Promise((resolve, reject) => {
      const asked = request(`${gateway.url}/health`, { rejectUnauthorized: false }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      asked.on('error', reject).end()
    })
    expect(status).toBe(200)
  })

  it('says what there is to who asks for something else, as his API does', async () => {
    const gateway = await Gateway.open({ dialects })
    open.push(gateway)
    const answer = async (path: string) => {
      const response = await fetch(gateway.url + path, { method: 'POST', body: '{}' })
      expect(response.status).toBe(404)
      return response.json()
    }
    const hint = expect.stringMatching(/nothing at .*there are POST \/v1\/chat\/completions, .*GET \/v1\/models/)
    const openai = { error: { message: hint, type: 'not_found_error', param: null, code: 'gateway/route' } }
    for (const path of ['/v1/embeddings', '/s/x/v1/embeddings', '/chat/completions', '/v1/v1/responses', '/']) {
      expect(await answer(path)).toEqual(openai)
    }
    expect(await answer('/v1/messages/count_tokens')).toMatchObject({
      type: 'error',
      error: { type: 'not_found_error', message: hint },
    })
  })

  it('shows its numbers to Prometheus, and under the names of the reference', async () => {
    const { post, gateway } = await opened({ fake: { diverged: { answer: 2, again: 1 } } })
    await post(HELLO)
    const text = await (await fetch(`${gateway.url}/metrics`)).text()
    expect(text).toContain('trinity_gateway_requests_total 1\n')
    expect(text).toContain('trinity_gateway_divergences_total{reason="answer"} 2\n')
    expect(gateway.stats).toMatchObject({ divergences: 3, diverged: { answer: 2, again: 1, beginning: 0 } })
    const names = {
      'rollout/model_0/total_request_count': 1,
      'rollout/model_0/model_version': 7,
      'rollout/total_experience_count': 1,
    }
    expect(await (await fetch(`${gateway.url}/metrics?format=json`)).json()).toEqual(names)
    const headers = { accept: 'application/json' }
    expect(await (await fetch(`${gateway.url}/metrics`, { headers })).json()).toEqual(names)
  })
})
