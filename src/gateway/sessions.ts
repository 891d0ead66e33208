import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { TrinityError } from '../base/error.js'
import type { GatewayLimits } from './limits.js'
import { hashOf, OpenSession, type SessionParts } from './session.js'

/** What a request says of its session before its body is read. */
export interface Asking {
  /** Of its URL. */
  readonly id?: string
  readonly headers: IncomingHttpHeaders
}

/** Finds the session of a request, or throws. */
export interface SessionResolver {
  resolve(asking: Asking): OpenSession
  /** Refuses a request that does not carry the key of the whole server, where there is one. */
  checkMaster(headers: IncomingHttpHeaders): void
}

const ID = /^[\w.-]{1,128}$/

/** The sessions of a gateway, by the id in a URL and by key. */
export class Sessions implements SessionResolver {
  readonly #byId = new Map<string, OpenSession>()
  readonly #byKey = new Map<string, OpenSession>()
  readonly #limits: GatewayLimits
  readonly #masterKey: Buffer | undefined
  readonly #onClose: (session: OpenSession) => void

  /** `masterKey` opens every session, when the URL says which. */
  constructor(limits: GatewayLimits, masterKey: string | undefined, onClose: (session: OpenSession) => void) {
    this.#limits = limits
    this.#masterKey = masterKey === undefined ? undefined : hashOf(masterKey)
    this.#onClose = onClose
  }

  get size(): number {
    return this.#byId.size
  }

  [Symbol.iterator](): IterableIterator<OpenSession> {
    return this.#byId.values()
  }

  open(url: string, parts: SessionParts): OpenSession {
    const id = parts.id ?? randomBytes(16).toString('base64url')
    if (!ID.test(id) || id === '.' || id === '..') {
      throw new TrinityError('gateway/session-id', `'${id}' cannot stand in the URL of a session`, {
        hint: 'at most 128 letters, digits, . _ -',
      })
    }
    if (this.#byId.has(id)) {
      throw new TrinityError('gateway/session-id', `session '${id}' is already open`, { hint: 'close it first' })
    }
    const apiKey = `sk-trinity-${randomBytes(32).toString('base64url')}`
    const keyHash = hashOf(apiKey)
    const keyName = nameOf(keyHash)
    const session = new OpenSession({ id, url, apiKey, keyHash }, parts, this.#limits, (ended) => {
      this.#byId.delete(ended.id)
      this.#byKey.delete(keyName)
      this.#onClose(ended)
    })
    if (session.closed) return session
    this.#byId.set(id, session)
    this.#byKey.set(keyName, session)
    return session
  }

  resolve({ id, headers }: Asking): OpenSession {
    const key = keyOf(headers)
    if (id === undefined) {
      // Found by a hash: how long it takes says nothing of other keys.
      const session = key === undefined ? undefined : this.#byKey.get(nameOf(hashOf(key)))
      if (session) return session
      throw wrongKey(key)
    }
    const session = this.#byId.get(id)
    if (!session) {
      throw new TrinityError('gateway/session', `there is no session '${id}'`, { hint: 'it may have ended' })
    }
    if (key === undefined || !(session.opensWith(key) || this.#isMaster(key))) throw wrongKey(key)
    return session
  }

  checkMaster(headers: IncomingHttpHeaders): void {
    const key = keyOf(headers)
    if (this.#masterKey && (key === undefined || !this.#isMaster(key))) throw wrongKey(key)
  }

  #isMaster(key: string): boolean {
    return this.#masterKey !== undefined && timingSafeEqual(this.#masterKey, hashOf(key))
  }
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
