import type { IncomingMessage } from 'node:http'
import type { z } from 'zod'
import { rememberUrl } from '../secret/index.js'
import { Call, type Headers, type Place } from './call.js'
import { wordsOf } from './error.js'
import { serverEvents } from './events.js'
import { connectionsTo } from './exchange.js'
import type { RetryPolicy } from './retry.js'
import { parseBaseUrl, shownUrl } from './url.js'

export interface HttpServiceOptions {
  /** What errors call it: `the judge`. */
  readonly name: string
  /** Routes are below it. */
  readonly baseUrl: string
  /** Codes of errors begin with it: `hub` gives `hub/unreachable`, `hub/busy`, … */
  readonly code: string
  /** Of each request. A function, so that a key is read when it is used and kept nowhere. */
  readonly headers?: () => Headers
  /** How often a call is repeated that got no answer or half of one, 408, 425, 429 or 5xx. Default: 0. */
  readonly retries?: number | RetryPolicy
  /** Of a whole call, with its repetitions. Default: one minute. */
  readonly deadlineMs?: number
  /** At once; more calls wait. Default: 256. */
  readonly connections?: number
  /** Longer answers are refused. Default: 64 MiB. */
  readonly maxBytes?: number
  /** One that was never there is not waited for: its address is wrong. The error is `absent`, and no call is repeated. */
  readonly mustBeThere?: boolean
  /** How to fix a failure, where this server is known better than by its status (undefined: there was none). */
  readonly hint?: (status: number | undefined) => string | undefined
}

/** Of one call; what is left out is as the server's options say. */
export interface CallOptions {
  readonly signal?: AbortSignal
  readonly deadlineMs?: number
  readonly retries?: number | RetryPolicy
  /** Must not happen twice: it is repeated only where the server has certainly done nothing. */
  readonly once?: boolean
  readonly headers?: Headers
}

export interface HttpAnswer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly bytes: Uint8Array
}

const DEADLINE_MS = 60_000
const CONNECTIONS = 256
const MAX_BYTES = 64 * 2 ** 20

/**
 * One server that is spoken to over HTTP. Errors are HttpErrors that say which server, which route, what it said and
 * what to do; an aborted signal throws its reason. Redirects are not followed: they would carry keys elsewhere.
 */
export class HttpService {
  readonly name: string
  /** Without credentials. */
  readonly url: string
  /** Requests that were sent, and how many of them were repetitions. */
  readonly counts = { requests: 0, retries: 0 }
  readonly #options: HttpServiceOptions
  readonly #place: Place

  constructor(options: HttpServiceOptions) {
    const { name, code, baseUrl, headers, hint, mustBeThere = false } = options
    const { connections = CONNECTIONS, maxBytes = MAX_BYTES } = options
    rememberUrl(baseUrl)
    const base = parseBaseUrl(baseUrl, code)
    this.#place = {
      name,
      code,
      base,
      agent: connectionsTo(base, connections),
      maxBytes,
      headers,
      hint,
      counts: this.counts,
      mustBeThere,
      hasAnswered: false,
    }
    this.#options = options
    this.name = name
    this.url = shownUrl(base).replace(/\/+$/, '')
  }

  /** The answer must be JSON of the schema's form. */
  json<T>(method: string, route: string, body: unknown, schema: z.ZodType<T>, options?: CallOptions): Promise<T> {
    return this.#call(method, route, body, options, async (call, answer) => {
      const text = (await call.whole(answer)).toString()
      let value: unknown
      try {
        value = JSON.parse(text)
      } catch (cause) {
        throw call.wrong(`is no JSON: ${wordsOf(text) || 'it is empty'}`, cause)
      }
      const parsed = schema.safeParse(value)
      if (parsed.success) return parsed.data
      const [{ path, message }] = parsed.error.issues
      throw call.wrong(`is not of the expected form: ${path.join('.') || 'it'}: ${message}: ${wordsOf(text)}`)
    })
  }

  /** A body of bytes is sent as it is, any other as JSON; the answer is bytes. */
  send(method: string, route: string, body?: unknown, options?: CallOptions): Promise<HttpAnswer> {
    return this.#call(method, route, body, options, async (call, answer) => ({
      status: answer.statusCode as number,
      headers: answer.headers,
      bytes: await call.whole(answer),
    }))
  }

  /** The data of each server-sent event. Nothing is repeated once the stream has begun; one that breaks off throws. */
  async *events(route: string, body: unknown, options: CallOptions = {}): AsyncGenerator<string, void, undefined> {
    const headers = { accept: 'text/event-stream', ...options.headers }
    const call = this.#begin('POST', route, body, { ...options, headers })
    let stream: IncomingMessage | undefined
    try {
      stream = await call.answered(async (answer) => answer)
      const type = stream.headers['content-type'] ?? 'nothing'
      if (!type.startsWith('text/event-stream')) {
        throw call.wrong(`is ${type}, no stream of events: ${wordsOf((await call.whole(stream)).toString())}`)
      }
      yield* serverEvents(call.pieces(stream))
    } catch (error) {
      throw call.explained(error)
    } finally {
      call.done()
      // who stops listening does not want the rest either
      if (!stream?.complete) stream?.destroy()
    }
  }

  /** Gives up the connections that are kept. */
  close(): void {
    this.#place.agent.destroy()
  }

  #begin(method: string, route: string, body: unknown, options: CallOptions = {}): Call {
    const { retries = 0, deadlineMs = DEADLINE_MS } = this.#options
    return new Call(this.#place, { retries, deadlineMs, ...given(options), method, route, body })
  }

  async #call<T>(
    method: string,
    route: string,
    body: unknown,
    options: CallOptions | undefined,
    read: (call: Call, answer: IncomingMessage) => Promise<T>,
  ): Promise<T> {
    const call = this.#begin(method, route, body, options)
    try {
      return await call.answered((answer) => read(call, answer))
    } finally {
      call.done()
    }
  }
}

/** Without what is undefined: that must not stand before a default. */
function given<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T
}
