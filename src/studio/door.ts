import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { TrinityError } from '../base/error.js'

/**
 * Who may come in. The address that is printed holds a token; the first browser that brings it gets a cookie instead, and
 * the token is worth nothing from then on: it stays behind in terminals and histories. Another browser gets another.
 */
export class Door {
  #token = randomBytes(24).toString('base64url')
  readonly #key = randomBytes(24).toString('base64url')
  readonly #cookie: string
  #isUsed = false

  /** Cookies do not tell ports apart: two Studios on one machine must not take each other's. */
  constructor(port: number) {
    this.#cookie = `trinity_studio_${port}`
  }

  get token(): string {
    return this.#token
  }

  /** A token for another browser; the one before lets nobody in any more. */
  renew(): string {
    this.#token = randomBytes(24).toString('base64url')
    this.#isUsed = false
    return this.#token
  }

  /** The cookie for a token; undefined: it is wrong or was used. */
  exchange(token: string): string | undefined {
    if (this.#isUsed || !isSame(token, this.#token)) return undefined
    this.#isUsed = true
    return `${this.#cookie}=${this.#key}; HttpOnly; SameSite=Strict; Path=/`
  }

  has(cookies: string | undefined): boolean {
    const own = `${this.#cookie}=`
    const found = cookies
      ?.split(';')
      .map((one) => one.trim())
      .find((one) => one.startsWith(own))
    return found !== undefined && isSame(found.slice(own.length), this.#key)
  }

  check(cookies: string | undefined): void {
    if (this.has(cookies)) return
    throw new TrinityError('studio/key', 'this browser has not been let in', {
      hint: 'open the address that `trinity studio` has printed; it works once; Enter in its terminal prints one for another browser',
    })
  }
}

/** Takes the same time wherever the two differ. */
function isSame(one: string, other: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(one), hash(other))
}
