import type { Agent, IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf, TrinityError } from '../error.js'
import { isSecretName, rememberSecret } from '../secret/index.js'
import { Deadline } from './deadline.js'
import { codeOf, HttpError, hintOf, wordsOf } from './error.js'
import { exchange, NoAnswer, piecesOf, startOf, TooLarge } from './exchange.js'
import { type RetryPolicy, retryAfterMs, waitMs } from './retry.js'
import { joinUrl, shownUrl } from './url.js'

/** Undefined: not sent. */
export type Headers = Readonly<Record<string, string | undefined>>

/** What all calls of one server have in common. */
export interface Place {
  readonly name: string
  readonly code: string
  readonly base: URL
  readonly agent: Agent
  readonly maxBytes: number
  readonly headers?: () => Headers
  readonly hint?: (status: number | undefined) => string | undefined
  readonly counts: { requests: number; retries: number }
  /** See HttpServiceOptions.mustBeThere. */
  readonly mustBeThere: boolean
  /** Some call got an answer, whatever it was. */
  hasAnswered: boolean
}

export interface Asked {
  readonly method: string
  readonly route: string
  /** Bytes are sent as they are, anything else as JSON. */
  readonly body: unknown
  readonly headers?: Headers
  readonly retries: number | RetryPolicy
  readonly once?: boolean
  readonly deadlineMs: number
  readonly signal?: AbortSignal
}

/** One call of a server, with its repetitions, until its answer was read or its deadline is over. */
export class Call {
  readonly #place: Place
  readonly #asked: Asked
  readonly #deadline: Deadline

  constructor(place: Place, asked: Asked) {
    this.#place = place
    this.#asked = asked
    this.#deadline = new Deadline(asked.deadlineMs, asked.signal)
  }

  /** Asks until there is an answer and `read` has read it. */
  async answered<T>(read: (answer: IncomingMessage) => Promise<T>): Promise<T> {
    const { retries, once = false } = this.#asked
    const policy = typeof retries === 'number' ? { times: retries } : retries
    for (let failures = 0; ; failures++) {
      try {
        return await read(await this.#ask())
      } catch (cause) {
        const error = this.explained(cause)
        if (!(error instanceof HttpError) || !error.isPassing || (once && !error.isUndone)) throw error
        const wait = waitMs(failures, policy, error.retryAfterMs)
        if (failures >= policy.times || wait >= this.#deadline.leftMs) throw error
        this.#place.counts.retries++
        await sleep(wait, undefined, { signal: this.#deadline.signal }).catch(() => {})
      }
    }
  }

  pieces(answer: IncomingMessage): AsyncGenerator<Uint8Array, void, undefined> {
    return piecesOf(answer, this.#place.maxBytes)
  }

  async whole(answer: IncomingMessage): Promise<Buffer> {
    const pieces: Uint8Array[] = []
    for await (const piece of this.pieces(answer)) pieces.push(piece)
    return Buffer.concat(pieces)
  }

  /** An answer of success that is not what was asked for. */
  wrong(what: string, cause?: unknown): HttpError {
    return this.#error('answer', `the answer ${what}`, { cause, hint: 'is this the address of such a server?' })
  }

  /** What is thrown for what went wrong: the reason of who has given up, else an error that says where and why. */
  explained(cause: unknown): unknown {
    if (cause instanceof TrinityError) return cause
    const { signal, deadlineMs } = this.#asked
    if (signal?.aborted) return signal.reason
    if (this.#deadline.isOver) return this.#error('deadline', `no answer within ${deadlineMs / 1000} s`, { cause })
    if (cause instanceof TooLarge) return this.wrong(`is too large: ${cause.message}`, cause)
    if (cause instanceof NoAnswer) {
      const { mustBeThere, hasAnswered } = this.#place
      if (mustBeThere && !hasAnswered && !cause.connected) return this.#error('absent', messageOf(cause), { cause })
      return this.#error('unreachable', messageOf(cause), { cause, isUndone: !cause.connected })
    }
    return this.#error('cut', `the answer breaks off: ${messageOf(cause)}`, { cause })
  }

  /** Nothing more is wanted of this call. */
  done(): void {
    this.#deadline.clear()
  }

  /** The head of an answer that is success. */
  async #ask(): Promise<IncomingMessage> {
    const { base, agent, counts } = this.#place
    const { method, route, body } = this.#asked
    const headers = this.#headers()
    counts.requests++
    const answer = await exchange(joinUrl(base, route), {
      method,
      headers,
      body: body === undefined || body instanceof Uint8Array ? body : JSON.stringify(body),
      agent,
      signal: this.#deadline.signal,
    })
    this.#place.hasAnswered = true
    const status = answer.statusCode as number
    if (status >= 200 && status < 300) return answer
    const said = wordsOf(await startOf(answer))
    const to = answer.headers.location
    const moved = status < 400 && to ? ` (to ${to})` : ''
    throw this.#error(codeOf(status), `${status}${moved}${said && ' '}${said}`, {
      status,
      said,
      retryAfterMs: retryAfterMs(answer.headers),
    })
  }

  /** Whatever opens something is known from now on, also where the server says it back. */
  #headers(): Record<string, string> {
    const { body, headers: more } = this.#asked
    const type = body === undefined || body instanceof Uint8Array ? undefined : { 'content-type': 'application/json' }
    const all: Headers = { accept: 'application/json', ...type, ...this.#place.headers?.(), ...more }
    const headers: Record<string, string> = {}
    for (const [name, value] of Object.entries(all)) {
      if (value === undefined) continue
      headers[name] = value
      if (isSecretName(name)) rememberSecret(value.replace(/^\w+\s+(?=\S)/, ''))
    }
    return headers
  }

  #error(what: string, why: string, options: ConstructorParameters<typeof HttpError>[2] = {}): HttpError {
    const { name, code, base, hint } = this.#place
    const { method, route } = this.#asked
    const message = `${name}: ${method} ${shownUrl(joinUrl(base, route))}: ${why}`
    const fix = hint?.(options.status) ?? options.hint ?? hintOf(what)
    return new HttpError(`${code}/${what}`, message, { path: shownUrl(base), ...options, hint: fix })
  }
}
