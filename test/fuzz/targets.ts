import { join } from 'node:path'
import { questionWire } from '../../src/dialect/clients.fixture.js'
import { dialects } from '../../src/dialect/dialects.js'
import type { RunList, StoreList } from '../../src/studio/api.js'
import { Visitor } from '../../src/studio/visitor.fixture.js'
import { Bench } from '../run/kit.js'
import { Served } from '../run/serve-kit.js'
import type { Target } from './requests.js'

const KEY = 'fuzz-key-0123456789'

export interface OpenTarget {
  readonly target: Target
  /** Violations of the state that the server is left in. */
  leftovers(): Promise<string[]>
  close(): Promise<void>
}

/** `trinity serve` on the mock engine, with a key: all dialects, feedback, commits, metrics. */
export async function serveTarget(): Promise<OpenTarget> {
  const bench = await Bench.make()
  const served = await Served.open(
    bench,
    { 'explorer.proxy_api_key': KEY, 'explorer.listen_address': '127.0.0.1' },
    { maxModelLen: 64 },
  )
  const url = served.url.trim().replace(/\/v1$/, '')
  const headers = { authorization: `Bearer ${KEY}` }
  const chats = dialects.map(({ name, path }) => ({
    method: 'POST' as const,
    path: `/v1${path}`,
    body: { ...shortQuestion(name), model: 'policy' },
  }))
  const [{ path, body }] = chats
  const init = {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }
  const answered = (await (await fetch(url + path, init)).json()) as { id: string }
  const target: Target = {
    name: 'serve',
    url,
    headers,
    routes: [
      ...chats,
      { method: 'POST', path: '/commit', body: {} },
      { method: 'POST', path: '/feedback', body: { reward: 1, msg_ids: [answered.id], task_id: 't', run_id: 0 } },
      { method: 'GET', path: '/metrics' },
      { method: 'GET', path: '/health' },
      { method: 'GET', path: '/v1/models' },
    ],
    // A model without a name is called by its path; the folder of the job is shown to nobody.
    secrets: [KEY, bench.job('')],
    isError: (path, body) => {
      const { error, type } = body as { error?: { message?: unknown; type?: unknown }; type?: unknown }
      if (typeof error?.message !== 'string') return false
      return !path.startsWith('/v1/messages') || (type === 'error' && typeof error.type === 'string')
    },
  }
  return {
    target,
    leftovers: async () => {
      const text = await (await fetch(`${url}/metrics?format=prometheus`, { headers })).text()
      const inFlight = Number(/^trinity_gateway_calls_in_flight (\d+)/m.exec(text)?.[1])
      return inFlight === 0 ? [] : [`${inFlight} calls in flight`]
    },
    close: async () => {
      await served.end()
      bench.remove()
    },
  }
}

/** A question that fits the model of the bench: 12 characters. */
function shortQuestion(name: string): object {
  const { tools: _, ...question } = questionWire(name)
  const text = JSON.stringify({ ...question, max_tokens: undefined }).replaceAll('hello', '1+1=')
  return { ...JSON.parse(text), ...(name === 'messages' || name === 'anthropic' ? { max_tokens: 4 } : {}) }
}

/** Studio over the folder of a finished run. It writes nothing but tags. */
export async function studioTarget(): Promise<OpenTarget> {
  const bench = await Bench.make()
  await bench.run({ 'buffer.total_steps': 2 })
  const visitor = await Visitor.open({ folders: [bench.dir], program: [process.execPath, join(bench.dir, 'none.js')] })
  const { runs } = await visitor.get<RunList>('/runs')
  const run = `/api/runs/${runs[0].id}`
  const { stores } = await visitor.get<StoreList>(`/runs/${runs[0].id}/stores`)
  const store = `store=${encodeURIComponent(stores[0].id)}`
  const get = (path: string) => ({ method: 'GET' as const, path })
  const post = (path: string, body: object) => ({ method: 'POST' as const, path, body })
  const target: Target = {
    name: 'Studio',
    url: visitor.origin,
    headers: { cookie: visitor.cookie, origin: visitor.origin },
    routes: [
      ...['/api/runs', '/api/session', '/api/started', '/api/files', '/api/templates', run].map(get),
      ...['/config', '/logs', '/metrics', '/timeline', '/source', '/deletion', '/series?name=loss'].map((path) =>
        get(run + path),
      ),
      ...['', '/histogram', '/tasks'].map((path) => get(`${run}/rollouts${path}?${store}`)),
      post(`${run}/tags`, { tags: ['a', 'b'] }),
      post('/api/models/close', { model: 'none' }),
    ],
    // Studio shows paths of runs to the person who started it; its cookie is shown to nobody.
    secrets: [visitor.cookie.split('=')[1]],
    isError: (_, body) => typeof (body as { error?: { code?: unknown } }).error?.code === 'string',
  }
  return {
    target,
    leftovers: async () => {
      const known = await visitor.get<RunList>('/runs')
      return known.runs.length === 1 ? [] : [`${known.runs.length} runs`]
    },
    close: async () => {
      await visitor.close()
      bench.remove()
    },
  }
}
