import { afterAll, describe, expect, it } from 'vitest'
import type { Wire } from '../dialect/dialect.js'
import { gaugesText, wantsText } from './extension.js'
import { Gateway } from './gateway.js'

const seen: Wire[] = []
const gateway = await Gateway.open({
  apiKey: 'k',
  limits: { bodyBytes: 100 },
  extension: {
    posts: {
      '/note': async (body) => {
        seen.push(body)
        return { count: seen.length }
      },
    },
    metrics: () => ({ 'notes/seen_count': seen.length }),
  },
})
afterAll(() => gateway.close())

function post(body?: string, more: Record<string, string> = { 'content-type': 'application/json' }) {
  const headers = { authorization: 'Bearer k', ...more }
  return fetch(`${gateway.url}/note`, { method: 'POST', headers, body })
}

describe('an extension', () => {
  it('answers at its path, with a body or without, also while the server is paused', async () => {
    expect(await (await post('{"a": 1}')).json()).toEqual({ count: 1 })
    gateway.pause()
    expect((await post(undefined, {})).status).toBe(200)
    gateway.resume()
    expect(seen).toEqual([{ a: 1 }, {}])
  })

  it('is guarded as everything else is', async () => {
    expect((await post('{}', { authorization: 'Bearer x', 'content-type': 'application/json' })).status).toBe(401)
    expect((await post('{}', { 'content-type': 'text/plain' })).status).toBe(415)
    expect((await post('{}', { 'content-type': 'application/json', origin: 'http://evil.example' })).status).toBe(403)
    expect((await post('[')).status).toBe(400)
    expect((await post(JSON.stringify({ a: 'x'.repeat(200) }))).status).toBe(413)
    expect((await fetch(`${gateway.url}/note`)).status).toBe(405)
    expect(await (await fetch(`${gateway.url}/nothing`)).text()).toContain('POST /note')
    expect(seen).toHaveLength(2)
  })

  it('adds its numbers, as JSON for who does not ask for text', async () => {
    const metrics = (accept: string) =>
      fetch(`${gateway.url}/metrics`, { headers: { authorization: 'Bearer k', accept } })
    expect(await (await metrics('*/*')).json()).toMatchObject({ 'notes/seen_count': 2 })
    expect(await (await metrics('text/plain')).text()).toContain('\ntrinity_notes_seen_count 2\n')
    expect(gaugesText({ 'a/b-c': 1 })).toBe('# TYPE trinity_a_b_c gauge\ntrinity_a_b_c 1\n')
  })

  it.each([
    [{ accept: '*/*' }, false, true],
    [{ accept: 'application/json' }, false, false],
    [{ accept: '*/*' }, true, false],
    [{ accept: 'application/openmetrics-text, */*' }, true, true],
    [{ format: 'json', accept: 'text/plain' }, true, false],
    [{ format: 'prometheus', accept: '*/*' }, true, true],
  ])('%j, extended %s: text %s', (asked, isExtended, text) => {
    expect(wantsText(asked, isExtended)).toBe(text)
  })
})
