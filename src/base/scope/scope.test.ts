import { spawnSync } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { currentScope, inScope, installScopes, loadingScope, PLACEHOLDER } from './index.js'

const NAME = 'TRINITY_TEST_SCOPE'
let server: Server
let url: string
const seen: { path?: string; method?: string; headers: Record<string, unknown>; body: string }[] = []

beforeAll(async () => {
  installScopes()
  server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    seen.push({ path: request.url, method: request.method, headers: request.headers, body })
    response.end('ok')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as { port: number }).port}/s/1`
})
afterAll(() => server.close())

describe('process.env in a scope', () => {
  it('differs between rollouts that run at once, and not outside', async () => {
    const read = async (value: string) => {
      await sleep(Math.random() * 5)
      return [process.env[NAME], { ...process.env }[NAME], NAME in process.env, value]
    }
    const values = Array.from({ length: 50 }, (_, i) => `v${i}`)
    const found = await Promise.all(values.map((value) => inScope({ env: { [NAME]: value } }, () => read(value))))
    for (const [got, spread, has, value] of found) expect([got, spread, has]).toEqual([value, value, true])
    expect(process.env[NAME]).toBeUndefined()
    expect(NAME in process.env).toBe(false)
    expect(currentScope()).toBeUndefined()
  })

  it('reaches programs that are started there', () => {
    const run = () => spawnSync('sh', ['-c', `echo "$${NAME}"`], { encoding: 'utf8' }).stdout.trim()
    expect(inScope({ env: { [NAME]: 'there' } }, run)).toBe('there')
    expect(run()).toBe('')
  })

  it('can still be written', () => {
    process.env[NAME] = 'written'
    expect(process.env[NAME]).toBe('written')
    expect(inScope({ env: { [NAME]: 'own' } }, () => process.env[NAME])).toBe('own')
    delete process.env[NAME]
    expect(process.env[NAME]).toBeUndefined()
  })
})

describe('a client that was made before the rollout', () => {
  it('asks the model of the rollout, with its key', async () => {
    const target = { url, key: 'secret' }
    const headers = { authorization: 'Bearer placeholder', 'content-type': 'application/json' }
    const ask = () => fetch(`${PLACEHOLDER}/v1/chat/completions?x=1`, { method: 'POST', headers, body: '{"a":1}' })
    expect(await (await inScope({ env: {}, target }, ask)).text()).toBe('ok')
    expect(seen.at(-1)).toMatchObject({ path: '/s/1/v1/chat/completions?x=1', method: 'POST', body: '{"a":1}' })
    expect(seen.at(-1)?.headers).toMatchObject({ authorization: 'Bearer secret', 'content-type': 'application/json' })
    const request = () => fetch(new Request(`${PLACEHOLDER}/v1/messages`, { headers: { 'x-api-key': 'placeholder' } }))
    await inScope({ env: {}, target }, request)
    expect(seen.at(-1)?.headers['x-api-key']).toBe('secret')
    expect(seen.at(-1)?.headers.authorization).toBeUndefined()
  })

  it('or was made in another rollout and kept', async () => {
    const other = `${url.slice(0, -1)}2/v1/chat/completions`
    const ask = () => fetch(other, { headers: { authorization: 'Bearer of-the-other' } })
    await inScope({ env: {}, target: { url, key: 'secret' } }, ask)
    expect(seen.at(-1)).toMatchObject({ path: '/s/1/v1/chat/completions', headers: { authorization: 'Bearer secret' } })
    await ask()
    expect(seen.at(-1)).toMatchObject({ path: '/s/2/v1/chat/completions' })
  })

  it('or in one whose server has been closed since', async () => {
    const gone = { url: 'http://127.0.0.1:1/s/7', key: 'old' }
    await inScope({ env: {}, target: gone }, () => fetch(`${gone.url}/v1/models`).catch(() => {}))
    const ask = () => fetch(`${gone.url}/v1/chat/completions`, { headers: { authorization: 'Bearer old' } })
    await inScope({ env: {}, target: { url, key: 'secret' } }, ask)
    expect(seen.at(-1)).toMatchObject({ path: '/s/1/v1/chat/completions', headers: { authorization: 'Bearer secret' } })
  })

  it('fails outside of one, and everything else is fetched as ever', async () => {
    await expect(fetch(`${PLACEHOLDER}/v1/models`)).rejects.toMatchObject({ code: 'agent/outside' })
    expect(await (await fetch(`${url}/other`)).text()).toBe('ok')
    expect(seen.at(-1)?.path).toBe('/s/1/other')
  })
})

describe('while code is loaded', () => {
  it('clients get a place and a key, but not of a provider that the user has a key for', () => {
    expect(loadingScope({}).env).toEqual({
      OPENAI_BASE_URL: `${PLACEHOLDER}/v1`,
      OPENAI_API_BASE: `${PLACEHOLDER}/v1`,
      OPENAI_API_KEY: 'rollout',
      ANTHROPIC_BASE_URL: PLACEHOLDER,
      ANTHROPIC_API_KEY: 'rollout',
    })
    expect(Object.keys(loadingScope({ OPENAI_API_KEY: 'sk-1' }).env)).toEqual([
      'ANTHROPIC_BASE_URL',
      'ANTHROPIC_API_KEY',
    ])
  })
})
