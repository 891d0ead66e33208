import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { caseSeed, Draw } from './draw.js'
import { damageFile } from './mutate.js'
import { Watchdog } from './watchdog.js'

/** A route of a server, with a request that it answers with 200. */
export interface Route {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** Body of a good POST. */
  readonly body?: object
}

/** A server under attack. */
export interface Target {
  readonly name: string
  readonly url: string
  /** Headers that a good request needs, for example its key. */
  readonly headers: Readonly<Record<string, string>>
  readonly routes: readonly Route[]
  /** Texts that no answer may hold: keys, paths of this machine. */
  readonly secrets: readonly string[]
  /** Whether the body of an error has the shape that the API of this path documents. */
  isError(path: string, body: unknown): boolean
}

export interface HostileRequest {
  readonly label: string
  readonly bytes: Buffer
  readonly path: string
  /** The client sends less than it announces and leaves. */
  readonly isIncomplete: boolean
  readonly isHead: boolean
}

export interface HttpAnswer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

const METHODS = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND', 'BREW', 'post']
const PATHS = [
  ...['/', '//', '/v1', '/v1/', '/v1//chat/completions', '/v1/chat/completions/', '/v1/chat/completions?x=%00&x[]=1'],
  ...['/../../etc/passwd', '/v1/../../../etc/passwd', '/%2e%2e/%2e%2e/etc/passwd', '/..%2f..%2fetc%2fpasswd', '/%00'],
  ...['/%ff%fe', '/%', '/__proto__', '/constructor', '/s/__proto__/v1/chat/completions', '/s//v1/models', '*'],
  ...['/s/%2e%2e/v1/messages', '/v1/models/../../etc/passwd', '/v1/models/%2e%2e%2f%2e%2e', '/v1/models/__proto__'],
  ...['http://evil.example/v1/models', '/v1/responses/resp_x', '/v1/files', '/tokenize', '/v1/tokenize', '/detokenize'],
  ...[
    `/${'a'.repeat(7000)}`,
    '/api/',
    '/api/../api/runs',
    '/api/runs/__proto__',
    '/api/runs/..%2f..',
    '/index.html?token=',
  ],
]
const HEADERS: readonly ((draw: Draw) => string)[] = [
  () => 'Content-Type: text/plain',
  () => 'Content-Type: application/json; charset=utf-16',
  () => 'Content-Type: multipart/form-data; boundary=x',
  () => 'Content-Type: ',
  () => 'Content-Encoding: gzip',
  () => 'Content-Encoding: br, gzip, identity',
  () => 'Transfer-Encoding: gzip, chunked',
  () => 'Expect: the unexpected',
  () => 'Expect: 100-continue',
  () => 'Origin: http://evil.example',
  () => 'Origin: null',
  () => 'Sec-Fetch-Site: cross-site',
  () => 'Authorization: Bearer wrong',
  () => 'Authorization: Basic Og==',
  () => 'x-api-key: ',
  () => 'Cookie: trinity_studio_1=x; __proto__=1; a=%E0%A4%A',
  () => 'Host: evil.example',
  () => 'Accept: application/x-ndjson',
  () => 'Accept: text/plain, */*;q=NaN',
  () => 'Idempotency-Key: __proto__',
  (draw) => `Idempotency-Key: ${'k'.repeat(draw.nat(5000))}`,
  () => 'x-session-id: __proto__',
  (draw) => `x-session-id: ${'s'.repeat(draw.nat(5000))}`,
  () => 'x-session-id: ../../etc/passwd',
  () => 'anthropic-version: 1e999',
  () => 'Connection: upgrade\r\nUpgrade: websocket',
  () => 'Upgrade: h2c',
  () => 'X-Forwarded-Host: evil.example',
  (draw) => `X-Long: ${'y'.repeat(draw.nat(20_000))}`,
  (draw) => Array.from({ length: draw.nat(1500) }, (_, i) => `X-${i}: ${i}`).join('\r\n') || 'X-0: 0',
  () => 'X-Nul: a\u0000b',
  () => 'X-Bytes: \u00ff\u00fe',
  () => 'X-Fold: a\r\n b',
  () => ': no name',
  () => 'no colon',
]

type Body = { readonly bytes: Buffer; readonly label: string }

/** Draws one request at a server. Most are close to a good one, so that they reach what is behind the first checks. */
export function hostileRequest(target: Target, draw: Draw): HostileRequest {
  const route = draw.pick(target.routes)
  const isOddPath = draw.chance(0.15)
  const method = draw.chance(0.12) ? draw.pick(METHODS) : route.method
  const path = isOddPath ? draw.pick(PATHS) : draw.chance(0.15) ? `${route.path}${oddQuery(draw)}` : route.path
  const body = bodyOf(route, draw)
  const headers = new Map(Object.entries({ Host: new URL(target.url).host, Connection: 'close', ...target.headers }))
  headers.set('Content-Type', 'application/json')
  const framed = frame(body.bytes, method === 'GET' || method === 'HEAD' ? 'none' : draw)
  const odd = draw.chance(0.25) ? [draw.pick(HEADERS)(draw)] : []
  const replaced = odd.map((line) => line.slice(0, line.indexOf(':')).toLowerCase())
  for (const name of [...headers.keys()]) if (replaced.includes(name.toLowerCase())) headers.delete(name)
  const lines = [...headers].map(([name, value]) => `${name}: ${value}`)
  const head = [`${method} ${path} HTTP/1.1`, ...lines, ...framed.headers, ...odd, '', ''].join('\r\n')
  const label = [method, path.slice(0, 80), body.label, framed.label, ...odd.map((line) => line.slice(0, 60))].join(
    ' | ',
  )
  const bytes = Buffer.concat([Buffer.from(head, 'latin1'), framed.bytes])
  // Node waits for a body behind an Upgrade that nothing takes, until the time limit of the server for bodies.
  const isWaiting = framed.label === 'bad chunk size' && odd.some((line) => line.includes('Upgrade: websocket'))
  return { label, bytes, path, isIncomplete: framed.isIncomplete || isWaiting, isHead: method === 'HEAD' }
}

function oddQuery(draw: Draw): string {
  const value = draw.pick([
    '',
    '-1',
    '1e999',
    'NaN',
    '__proto__',
    '%00',
    '%ff',
    '../../etc/passwd',
    'a'.repeat(3000),
    '[]',
  ])
  const key = draw.pick([
    'format',
    'store',
    'points',
    'name',
    'from',
    'file',
    'task',
    'count',
    '__proto__',
    'token',
    'id',
  ])
  return `?${key}=${value}${draw.chance(0.3) ? `&${key}=${value}` : ''}`
}

function bodyOf({ body }: Route, draw: Draw): Body {
  const good = Buffer.from(JSON.stringify(body ?? {}))
  const kind = draw.nat(40)
  if (kind === 0) return { bytes: Buffer.alloc(0), label: 'empty body' }
  if (kind === 1) return { bytes: gzipSync(good), label: 'gzip body' }
  if (kind === 2) return { bytes: Buffer.from(`\ufeff${good}`, 'utf16le'), label: 'UTF-16 body' }
  if (kind === 3) return { bytes: Buffer.from(`[${'0,'.repeat(600_000)}0]`), label: 'many values' }
  if (kind === 4) return { bytes: Buffer.from(`{"messages":"${'x'.repeat(draw.nat(500_000))}"}`), label: 'long text' }
  if (kind === 5) return { bytes: good, label: 'good body' }
  const { bytes, kind: label } = damageFile(good, 'json', draw)
  return { bytes: typeof bytes === 'string' ? Buffer.alloc(0) : bytes, label }
}

interface Framed {
  readonly headers: readonly string[]
  readonly bytes: Buffer
  readonly label: string
  readonly isIncomplete: boolean
}

function frame(body: Buffer, draw: Draw | 'none'): Framed {
  if (draw === 'none') return { headers: [], bytes: Buffer.alloc(0), label: 'no body', isIncomplete: false }
  const framed = (label: string, headers: string[], bytes = body, isIncomplete = false): Framed => {
    return { label, headers, bytes, isIncomplete }
  }
  const size = `Content-Length: ${body.length}`
  switch (draw.nat(16)) {
    case 0:
      return framed('longer than sent', [`Content-Length: ${body.length + 10}`], body, true)
    case 1:
      return framed('huge length', ['Content-Length: 99999999999999'], body, true)
    case 2:
      return framed('negative length', ['Content-Length: -1'])
    case 3:
      return framed('two lengths', [size, 'Content-Length: 1'])
    case 4:
      return framed('length and chunks', [size, 'Transfer-Encoding: chunked'], chunked(body))
    case 5:
      return framed('chunks', ['Transfer-Encoding: chunked'], chunked(body))
    case 6:
      return framed('chunks without an end', ['Transfer-Encoding: chunked'], chunked(body).subarray(0, -5), true)
    case 7:
      return framed('bad chunk size', ['Transfer-Encoding: chunked'], Buffer.from('zz\r\nabc\r\n0\r\n\r\n'))
    case 8:
      return framed('huge chunk', ['Transfer-Encoding: chunked'], Buffer.from('fffffffffffffffff\r\nabc'), true)
    case 9:
      return framed('shorter than sent', [`Content-Length: ${body.length >> 1}`])
    default:
      return framed('', [size])
  }
}

function chunked(body: Buffer): Buffer {
  const pieces: Buffer[] = []
  for (let at = 0; at < body.length; at += 100_000) {
    const piece = body.subarray(at, at + 100_000)
    pieces.push(Buffer.from(`${piece.length.toString(16)};ext="x"\r\n`), piece, Buffer.from('\r\n'))
  }
  return Buffer.concat([...pieces, Buffer.from('0\r\n\r\n')])
}

/** Longest wait for an answer, in ms. */
const WAIT_MS = 20_000
/** Time after which a client that sent half a request leaves, in ms. */
const LEAVE_MS = 30

/** Sends bytes over a connection of their own. Resolves with what came back until the server closed it, or the client left. */
export function sendRaw(
  url: string,
  { bytes, isIncomplete }: Pick<HostileRequest, 'bytes' | 'isIncomplete'>,
): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const socket = connect({ host: hostname, port: Number(port) })
    const limit = setTimeout(() => socket.destroy(), isIncomplete ? LEAVE_MS : WAIT_MS)
    socket.on('data', (chunk) => chunks.push(chunk))
    // A server that refuses a body early closes while the client still writes.
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(limit)
      resolve(Buffer.concat(chunks).toString('latin1'))
    })
    socket.write(bytes)
  })
}

/** Returns a raw text without the interim answers before the final one. */
function final(raw: string): string {
  return raw.replace(/^(HTTP\/1\.1 100 Continue\r\n\r\n)+/, '')
}

/** Parses the first final answer in a raw text. Undefined if it is not HTTP. */
export function parseAnswer(raw: string): HttpAnswer | undefined {
  const text = final(raw)
  const end = text.indexOf('\r\n\r\n')
  const [first, ...lines] = text.slice(0, Math.max(0, end)).split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1])
  if (end < 0 || !Number.isInteger(status)) return undefined
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const rest = text.slice(end + 4)
  const isChunked = headers.get('transfer-encoding') === 'chunked'
  const body = isChunked ? unchunked(rest) : rest.slice(0, Number(headers.get('content-length') ?? rest.length))
  return { status, headers, body: Buffer.from(body, 'latin1').toString('utf8') }
}

function unchunked(text: string): string {
  let body = ''
  for (let at = 0; ; ) {
    const line = text.indexOf('\r\n', at)
    const size = Number.parseInt(text.slice(at, line), 16)
    if (line < 0 || !(size > 0)) return body
    body += text.slice(line + 2, line + 2 + size)
    at = line + 4 + size
  }
}

const TRACE =
  /\n\s+at .*:\d+:\d+|node_modules|node:internal|\b(TypeError|RangeError|ReferenceError)\b|Cannot read propert/

/** Violations of one answer. Fails for 5xx, stack traces, secrets, and errors that do not have the shape of their API. */
export function faultsOf(target: Target, request: HostileRequest, raw: string): string[] {
  if (final(raw) === '') return request.isIncomplete ? [] : ['no answer']
  const answer = parseAnswer(raw)
  if (!answer) return [`not HTTP: ${raw.slice(0, 100)}`]
  const { status, headers, body } = answer
  const faults: string[] = []
  if (status < 200 || status >= 500) faults.push(`status ${status}: ${body.slice(0, 200)}`)
  if (TRACE.test(body)) faults.push(`shows its inside: ${TRACE.exec(body)?.[0]}`)
  for (const secret of target.secrets) if (raw.includes(secret)) faults.push(`shows ${secret}`)
  const isJson = headers.get('content-type')?.startsWith('application/json')
  if (status >= 400 && !request.isHead && body !== '') {
    const parsed = isJson ? parsedJson(body) : undefined
    if (parsed === undefined) faults.push(`${status} is not JSON: ${body.slice(0, 100)}`)
    else if (!target.isError(request.path, parsed)) faults.push(`${status} has another shape: ${body.slice(0, 150)}`)
  }
  return faults
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Sends `count` hostile requests, a few at a time. Returns one line per violation and the answers by status. */
export async function fuzzRequests(
  target: Target,
  count: number,
  seed: number,
): Promise<{ faults: string[]; statuses: Map<number, number> }> {
  const faults: string[] = []
  const statuses = new Map<number, number>()
  const watchdog = new Watchdog()
  const one = async (index: number) => {
    const request = hostileRequest(target, new Draw(caseSeed(target.name, seed, index)))
    const label = `${target.name} case ${index} of seed ${seed}: ${request.label}`
    watchdog.watch(label)
    const raw = await sendRaw(target.url, request)
    const status = parseAnswer(raw)?.status ?? 0
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    faults.push(...faultsOf(target, request, raw).map((fault) => `${label}: ${fault}`))
  }
  try {
    for (let index = 0; index < count; index += AT_ONCE) {
      await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - index) }, (_, i) => one(index + i)))
      if (index % CHECK_EVERY < AT_ONCE)
        faults.push(...(await goodFaults(target)).map((fault) => `after case ${index} of seed ${seed}: ${fault}`))
    }
    return { faults, statuses }
  } finally {
    watchdog.close()
  }
}

const AT_ONCE = 8
/** Cases between two rounds of good requests. */
const CHECK_EVERY = 200

/** Sends the good request of each route. Returns those that are not answered with 200. */
export async function goodFaults({ url, headers, routes }: Target): Promise<string[]> {
  const faults: string[] = []
  for (const { method, path, body } of routes) {
    const init = {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      body: body && JSON.stringify(body),
    }
    const response = await fetch(url + path, init)
    const text = await response.text()
    if (response.status !== 200) faults.push(`good ${method} ${path}: ${response.status} ${text.slice(0, 200)}`)
  }
  return faults
}
