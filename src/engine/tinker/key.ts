import { rememberSecret } from '../../base/secret/index.js'

/** Of a service that is not named: the one that the API is from. */
export const DEFAULT_URL = 'https://tinker.thinkingmachines.dev/services/tinker-prod'

/** Environment variable that holds the key. It is read when it is used, and neither kept nor shown. */
export const KEY_VARIABLE = 'TINKER_API_KEY'

/** Seconds before its end at which a token is exchanged for the next. */
const EARLY_S = 300

/** What a request shows to be let in: the user's key, or a token for it where the service wants one. */
export class TinkerKey {
  #token: string | undefined

  /** Of the next request. */
  headers(): Record<string, string> {
    return this.#token === undefined ? TinkerKey.own() : { 'x-api-key': this.#token }
  }

  /** The user's own key, which tokens are given for. */
  static own(): Record<string, string> {
    const key = process.env[KEY_VARIABLE]
    return key ? { 'x-api-key': key } : {}
  }

  /** A token that `fetch` has got for the key; it is used until the next. */
  async exchange(fetch: () => Promise<string>): Promise<void> {
    const token = await fetch()
    rememberSecret(token)
    this.#token = token
  }

  /** Whether a token is in use that ends soon. */
  get isStale(): boolean {
    return this.#token !== undefined && expiry(this.#token) - Date.now() / 1000 < EARLY_S
  }
}

/** When a JSON web token ends, in seconds; 0 for one that does not say. */
function expiry(token: string): number {
  try {
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { exp?: unknown }
    return typeof exp === 'number' ? exp : 0
  } catch {
    return 0
  }
}
