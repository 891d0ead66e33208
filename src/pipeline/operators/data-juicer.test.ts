import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Table, tableFromIPC, tableToIPC, vectorFromArray } from 'apache-arrow'
import { afterEach, describe, expect, it } from 'vitest'
import { createExperience } from '../../experience/create.js'
import { fromArrow } from '../data-juicer/arrow.js'
import { operators } from '../registry.js'

/** A service that keeps rows with long answers, last first, and measures them: as Data-Juicer's filters do. */
interface Seen {
  created?: Record<string, unknown>
  closed?: unknown
  columns?: string[]
  failWith?: string
}

let server: Server | undefined
afterEach(() => new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve())))

async function body(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

async function start(seen: Seen): Promise<string> {
  server = createServer(async (request, response) => {
    const bytes = await body(request)
    const answer = (status: number, json: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(json))
    }
    if (request.url === '/health') return answer(200, { status: 'ok' })
    if (request.url === '/create') {
      seen.created = JSON.parse(bytes.toString())
      return answer(200, { session_id: 's-1' })
    }
    if (request.url === '/close') {
      seen.closed = JSON.parse(bytes.toString())
      return answer(200, {})
    }
    if (request.url !== '/process_experience') return answer(404, { error: 'no such path' })
    if (seen.failWith) return answer(500, { error: seen.failWith })
    const form = await new Response(bytes, { headers: { 'content-type': request.headers['content-type']! } }).formData()
    if (form.get('session_id') !== 's-1') return answer(404, { error: 'Session not found' })
    const sent = tableFromIPC(new Uint8Array(await (form.get('arrow_data') as Blob).arrayBuffer()))
    seen.columns = sent.schema.fields.map((field) => field.name)
    const rows = sent.toArray().map((row) => row.toJSON())
    const kept = rows.filter((row) => (row.response_text as string).length > 3).reverse()
    const result = new Table({
      trinity_row: vectorFromArray(kept.map((row) => row.trinity_row)),
      prompt_text: vectorFromArray(kept.map((row) => `${row.prompt_text}!`)),
      response_text: vectorFromArray(kept.map((row) => row.response_text)),
      reward: vectorFromArray(kept.map((row) => row.reward)),
      __dj__stats__: vectorFromArray(
        kept.map((row) => ({ text_len: (row.response_text as string).length, lang: 'en' })),
      ),
    })
    response.writeHead(200, { 'X-Metrics': JSON.stringify({ kept: kept.length, note: 'x' }) })
    response.end(tableToIPC(result, 'stream'))
  })
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server!.address() as AddressInfo).port}/`
}

const { args, create } = operators.get('data_juicer')
const open = (given: Record<string, unknown>, context = {}) => create(args.parse(given) as never, context)
const make = (responseText: string, reward?: number) =>
  createExperience({
    tokens: [1, 2, responseText.length],
    promptText: 'p',
    responseText,
    ...(reward === undefined ? {} : { reward }),
    messages: [{ role: 'user', content: [{ type: 'text', text: 'p' }] }],
    info: { kept: true },
  })

describe('data_juicer', () => {
  it('sends an Arrow stream and finds its experiences again', async () => {
    const seen: Seen = {}
    const service = { data_juicer: { server_url: await start(seen) } }
    const operator = await open({ operators: [{ text_length_filter: { min_len: 4 } }], np: 2 }, { service })
    expect(seen.created).toEqual({
      pipeline_type: 'experience',
      operators: [{ text_length_filter: { min_len: 4 } }],
      config_path: null,
      np: 2,
    })
    const list = [make('long answer', 0.5), make('no', 1), make('also long')]
    const result = await operator.process(list)
    expect(seen.columns).toEqual(expect.arrayContaining(['prompt_text', 'response_text', 'messages', 'reward']))
    expect(result.experiences).toStrictEqual([
      { ...list[2], promptText: 'p!', info: { kept: true, text_len: 9, lang: 'en' } },
      { ...list[0], promptText: 'p!', info: { kept: true, text_len: 11, lang: 'en' } },
    ])
    expect(result.metrics).toEqual({ kept: 2 })
    expect(result.dropped).toEqual({ 'Data-Juicer': 1 })
    await operator.close?.()
    expect(seen.closed).toEqual({ session_id: 's-1' })
  })

  it('reads statistics that are written as JSON', () => {
    const table = new Table({
      trinity_row: vectorFromArray([0]),
      __dj__stats__: vectorFromArray(['{"num_words": 4, "words": ["a"]}']),
    })
    const [{ info }] = fromArrow(tableToIPC(table, 'stream'), [make('four words are here')])
    expect(info).toEqual({ kept: true, num_words: 4, words: ['a'] })
    const broken = new Table({ trinity_row: vectorFromArray([0]), __dj__stats__: vectorFromArray(['{']) })
    expect(() => fromArrow(tableToIPC(broken, 'stream'), [make('x')])).toThrow(/answered with '{' in the column/)
  })

  it('passes on what the service complains about', async () => {
    const seen: Seen = { failWith: 'operator exploded' }
    const operator = await open({ service_config: { server_url: await start(seen) } })
    await expect(operator.process([make('text')])).rejects.toMatchObject({
      code: 'data-juicer/failed',
      message: expect.stringMatching(/500 operator exploded/),
    })
  })

  it('says when there is no service, or none is configured', async () => {
    const nobody = open({ service_config: { server_url: 'http://127.0.0.1:9' } })
    await expect(nobody).rejects.toMatchObject({ code: 'data-juicer/unreachable' })
    await expect(open({})).rejects.toMatchObject({ code: 'data-juicer/config', path: 'service.data_juicer.server_url' })
  })
})
