import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { TrinityError } from '../base/error.js'
import type { Asked, Recall } from '../dialect/dialect.js'
import type { GatewayLimits } from './limits.js'
import { hashOf, OpenSession, type SessionParts } from './session.js'
import { namedInHeaders, type VisitorOptions, Visitors } from './visitors.js'

/** What a request says of its session before its body is read. */
export interface Asking {
  /** Of its URL. */
  readonly id?: string
  readonly headers: IncomingHttpHeaders
}

/** A request that was read, and its session. */
export interface Placed {
  readonly session: OpenSession
  readonly asked: Asked
}

/** Finds the session by what the body says, which `read` understands. */
export type Arrive = (read: (recall: Recall) => Asked) => Placed

/** Finds the session of a request, or throws. */
export interface SessionResolver {
  /** By URL, key or header, or else how to find it by the body. */
  resolve(asking: Asking): OpenSession | Arrive
  has(id: string): boolean
  /** The names of the models that a request may use. */
  modelNames(asking: Asking): readonly string[]
  /** Refuses a request that does not carry the key of the whole server, where there is one. */
  checkMaster(headers: IncomingHttpHeaders): void
}

const ID = /^[\w.-]{1,128}$/
/** What keys of sessions begin with: one that is dead is refused, and not taken for a visitor's. */
const KEY_PREFIX = 'sk-trinity-'

export interface SessionsOptions {
  readonly limits: GatewayLimits
  /** Opens every session, when the request says which. */
  readonly masterKey?: string
  readonly visitors?: VisitorOptions
  readonly onOpen: () => void
  readonly onClose: (session: OpenSession) => void
}

/** The sessions of a gateway, by the id in a URL and by key; and those of visitors. */
export class Sessions implements SessionResolver {
  readonly #byId = new Map<string, OpenSession>()
  readonly #byKey = new Map<string, OpenSession>()
  readonly #options: SessionsOptions
  readonly #masterKey: Buffer | undefined
  readonly #visitors: Visitors | undefined
  readonly #url: string

  constructor(url: string, options: SessionsOptions) {
    const { masterKey, visitors, limits } = options
    this.#url = url
    this.#options = options
    this.#masterKey = masterKey === undefined ? undefined : hashOf(masterKey)
    this.#visitors = visitors && new Visitors(visitors, limits.replies, (parts) => this.open(parts))
  }

  get size(): number {
    return this.#byId.size
  }

  [Symbol.iterator](): IterableIterator<OpenSession> {
    return this.#byId.values()
  }

  open(parts: SessionParts): OpenSession {
    const id = parts.id ?? randomBytes(16).toString('base64url')
    if (!ID.test(id) || id === '.' || id === '..') {
      throw new TrinityError('gateway/session-id', `'${id}' cannot stand in the URL of a session`, {
        hint: 'at most 128 letters, digits, . _ -',
      })
    }
    if (this.#byId.has(id)) {
      throw new TrinityError('gateway/session-id', `session '${id}' is already open`, { hint: 'close it first' })
    }
    const apiKey = KEY_PREFIX + randomBytes(32).toString('base64url')
    const keyHash = hashOf(apiKey)
    const keyName = nameOf(keyHash)
    const session = new OpenSession({ id, url: this.#url, apiKey, keyHash }, parts, this.#options.limits, {
      onClose: (ended) => {
        this.#byId.delete(ended.id)
        this.#byKey.delete(keyName)
        this.#visitors?.ended(ended)
        this.#options.onClose(ended)
      },
      onReply: (replied, threads) => this.#visitors?.replied(replied, threads),
    })
    this.#options.onOpen()
    if (session.closed) return session
    this.#byId.set(id, session)
    this.#byKey.set(keyName, session)
    return session
  }

  has(id: string): boolean {
    return this.#byId.has(id)
  }

  resolve({ id, headers }: Asking): OpenSession | Arrive {
    const key = keyOf(headers)
    if (id === undefined) {
      // Found by a hash: how long it takes says nothing of other keys.
      const session = key === undefined ? undefined : this.#byKey.get(nameOf(hashOf(key)))
      if (session) return session
      const master = key !== undefined && this.#isMaster(key)
      if (master || this.#welcomes(key)) return (read) => this.#place(headers, read, master)
      throw wrongKey(key)
    }
    const session = this.#byId.get(id)
    if (!session) throw unknownSession(id)
    if (key === undefined || !(session.opensWith(key) || this.#isMaster(key))) throw wrongKey(key)
    return session
  }

  modelNames(asking: Asking): readonly string[] {
    const found = this.resolve(asking)
    if (found instanceof OpenSession) return found.modelNames
    const named = this.#byId.get(namedInHeaders(asking.headers) ?? '')
    if (named && this.#isMaster(keyOf(asking.headers) ?? '')) return named.modelNames
    if (this.#visitors) return this.#visitors.models
    throw unnamed()
  }

  checkMaster(headers: IncomingHttpHeaders): void {
    const key = keyOf(headers)
    if (this.#masterKey && (key === undefined || !this.#isMaster(key))) throw wrongKey(key)
  }

  /** With the key of the whole server every session is there to be named, else only those of visitors. */
  #place(headers: IncomingHttpHeaders, read: (recall: Recall) => Asked, master: boolean): Placed {
    let replied: OpenSession | undefined
    const asked = read((id) => {
      for (const session of master ? this : (this.#visitors ?? [])) {
        const found = session.recall(id)
        if (!found) continue
        replied = session
        return found
      }
      return undefined
    })
    const name = shortened(namedInHeaders(headers) ?? asked.session)
    const retry = headers['idempotency-key']
    const visit = {
      name,
      replied,
      messages: asked.messages ?? [],
      retry: typeof retry === 'string' ? retry : undefined,
    }
    const named = master && name !== undefined ? this.#byId.get(name) : undefined
    const session = named ?? (this.#visitors ? this.#visitors.place(visit) : replied)
    if (session) return { session, asked }
    throw unnamed(name)
  }

  /** Whether somebody without a session may come in: with the key of the server, or any where it has none. */
  #welcomes(key: string | undefined): boolean {
    return this.#visitors !== undefined && this.#masterKey === undefined && !key?.startsWith(KEY_PREFIX)
  }

  #isMaster(key: string): boolean {
    return this.#masterKey !== undefined && timingSafeEqual(this.#masterKey, hashOf(key))
  }
}

const LONGEST_NAME = 256

/** Names are kept as long as their sessions: a long one by its hash. */
function shortened(name: string | undefined): string | undefined {
  return name !== undefined && name.length > LONGEST_NAME ? nameOf(hashOf(name)) : name
}

function nameOf(keyHash: Buffer): string {
  return keyHash.toString('base64')
}

/** `Authorization: Bearer KEY` of OpenAI's clients, `x-api-key: KEY` of Anthropic's. */
function keyOf(headers: IncomingHttpHeaders): string | undefined {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]
  const key = headers['x-api-key']
  return bearer ?? (typeof key === 'string' && key !== '' ? key : undefined)
}

function wrongKey(key: string | undefined): TrinityError {
  return new TrinityError('gateway/key', key === undefined ? 'the API key is missing' : 'the API key is wrong', {
    hint: 'send the key of the session as a bearer token, or in the header x-api-key',
  })
}

export function unknownSession(id: string): TrinityError {
  return new TrinityError('gateway/session', `there is no session '${id}'`, { hint: 'it may have ended' })
}

function unnamed(name?: string): TrinityError {
  const what = name === undefined ? 'the request does not say its session' : `there is no session '${name}'`
  return new TrinityError('gateway/session', what, {
    hint: 'call /s/<id>/v1, use the key of a session, or name one that is open in the header x-session-id',
  })
}
