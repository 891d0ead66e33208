import type { IncomingHttpHeaders } from 'node:http'
import { TrinityError } from '../base/error.js'
import type { ChatMessage } from '../model/index.js'
import { type Prefix, Prefixes } from './prefixes.js'
import type { OpenSession, SessionParts, Threads } from './session.js'

/** How clients are met that have neither the URL nor the key of a session. */
export interface VisitorOptions {
  /** What a new session answers with. `name`: what the client calls it, if it says so. */
  readonly open: (visit: { readonly name?: string }) => SessionParts
  /** What `GET /v1/models` shows them. */
  readonly models: readonly string[]
  /** Sessions at once. Of more, the one that was silent for longest ends. Default: 4096. */
  readonly most?: number
  /** Silence after which a session may end. Default: an hour. */
  readonly idleMs?: number
  /** Calls after which a session is given up for a new one: some give one name to all they ever do. Default: 1000. */
  readonly calls?: number
}

/** What a request says of its session. */
export interface Visit {
  readonly name?: string
  /** Its idempotency key. */
  readonly retry?: string
  /** The session whose earlier reply it names. */
  readonly replied?: OpenSession
  readonly messages: readonly ChatMessage[]
}

const MOST = 4096
const IDLE_MS = 3_600_000
const CALLS = 1000

/** By what a session can be found again. */
interface Trace {
  seenMs: number
  readonly name?: string
  /** The latest last; bounded, as a client may stay for ever. */
  readonly prefixes: Prefix[]
  readonly retries: string[]
}

/** The sessions of visitors: by name, by a reply that they name, else by the conversation so far. */
export class Visitors {
  readonly #options: VisitorOptions
  readonly #keep: number
  readonly #openSession: (parts: SessionParts) => OpenSession
  readonly #byName = new Map<string, OpenSession>()
  readonly #byRetry = new Map<string, OpenSession>()
  readonly #byPrefix = new Prefixes<OpenSession>()
  /** Those that were silent for longest first. */
  readonly #traces = new Map<OpenSession, Trace>()
  /** Found no more, and ended when their last call is over. */
  readonly #retired = new Set<OpenSession>()

  /** `keep`: prefixes and retries of a session that it can be found by. */
  constructor(options: VisitorOptions, keep: number, openSession: (parts: SessionParts) => OpenSession) {
    this.#options = options
    this.#keep = keep
    this.#openSession = openSession
  }

  get models(): readonly string[] {
    return this.#options.models
  }

  [Symbol.iterator](): IterableIterator<OpenSession> {
    return this.#traces.keys()
  }

  /** The session of a request. One that was sent before finds the session it had. */
  place(visit: Visit): OpenSession {
    const { name, retry } = visit
    const known = this.#known(visit)
    // It names a reply of a session that is no visitor's.
    if (known && !this.#traces.has(known)) return known
    const isFull = known && known.calls.length >= (this.#options.calls ?? CALLS)
    if (isFull) this.#retire(known)
    const session = known && !isFull ? known : this.#open(name)
    this.#seen(session)
    if (name === undefined && retry !== undefined) this.#noteRetry(session, retry)
    return session
  }

  #known({ name, retry, replied, messages }: Visit): OpenSession | undefined {
    if (name !== undefined) return this.#byName.get(name)
    const again = retry === undefined ? undefined : this.#byRetry.get(retry)
    return again ?? replied ?? this.#byPrefix.find(messages)
  }

  /** A visitor got a reply: from now on its session is found by the conversation up to it. */
  replied(session: OpenSession, threads: Threads): void {
    const trace = this.#traces.get(session)
    if (!trace || trace.name !== undefined) return
    for (const messages of threads()) {
      const prefix = this.#byPrefix.add(messages, session)
      if (prefix !== undefined) trace.prefixes.push(prefix)
      if (trace.prefixes.length > this.#keep) this.#byPrefix.forget(trace.prefixes.shift()!, session)
    }
  }

  /** Forgets a session. */
  ended(session: OpenSession): void {
    this.#retired.delete(session)
    const trace = this.#traces.get(session)
    if (!trace) return
    this.#traces.delete(session)
    if (trace.name !== undefined) this.#byName.delete(trace.name)
    for (const retry of trace.retries) this.#byRetry.delete(retry)
    for (const prefix of trace.prefixes) this.#byPrefix.forget(prefix, session)
  }

  #retire(session: OpenSession): void {
    this.ended(session)
    this.#retired.add(session)
  }

  #noteRetry(session: OpenSession, retry: string): void {
    if (this.#byRetry.has(retry)) return
    this.#byRetry.set(retry, session)
    const { retries } = this.#traces.get(session)!
    retries.push(retry)
    if (retries.length > this.#keep) this.#byRetry.delete(retries.shift()!)
  }

  #open(name: string | undefined): OpenSession {
    this.#makeRoom()
    const session = this.#openSession(this.#options.open({ name }))
    if (session.closed) throw new TrinityError('gateway/closing', 'no session can be opened any more')
    this.#traces.set(session, { seenMs: 0, name, prefixes: [], retries: [] })
    if (name !== undefined) this.#byName.set(name, session)
    return session
  }

  #seen(session: OpenSession): void {
    const trace = this.#traces.get(session)!
    trace.seenMs = performance.now()
    this.#traces.delete(session)
    this.#traces.set(session, trace)
  }

  /** Ends those that are idle, and one more where all places are taken. */
  #makeRoom(): void {
    const { most = MOST, idleMs = IDLE_MS } = this.#options
    const oldest = performance.now() - idleMs
    for (const session of this.#retired) if (session.running.size === 0) session.close()
    for (const [session, { seenMs }] of this.#traces) {
      if (seenMs > oldest && this.#traces.size < most) return
      if (session.running.size === 0) session.close()
    }
    if (this.#traces.size >= most) {
      throw new TrinityError('gateway/busy', `${most} sessions are at work`, { hint: 'try again later' })
    }
  }
}

const HEADERS = ['x-session-id', 'x-trinity-session', 'session-id', 'session_id']

/** What a client calls its session in a header. Names in the body count as well (`session_id`, `metadata`, `user`). */
export function namedInHeaders(headers: IncomingHttpHeaders): string | undefined {
  return HEADERS.map((header) => headers[header]).find((one): one is string => typeof one === 'string' && one !== '')
}
