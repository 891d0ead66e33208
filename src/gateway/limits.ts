import { TrinityError } from '../base/error.js'

/** Bounds of what clients may ask of a gateway. */
export interface GatewayLimits {
  /** Bytes of a request's body. */
  readonly bodyBytes: number
  /** Arrays and objects inside one another in a body. */
  readonly depth: number
  /** Numbers, texts, arrays and objects in a body, all counted. */
  readonly values: number
  /** Until the head of a request is there. */
  readonly headerMs: number
  /** From the head of a request until the end of its body. */
  readonly bodyMs: number
  /** A whole call, sampling included. */
  readonly callMs: number
  /** Calls at once, of all sessions together. */
  readonly calls: number
  /** Calls at once of one session. */
  readonly callsPerSession: number
  /** Bytes of a stream that wait for their reader before no more are written. */
  readonly unreadBytes: number
  /** How long a reader may take nothing of a reply that waits for it before it is cut. */
  readonly unreadMs: number
  /** Silence on a stream after which a comment is sent, so that nobody between takes it for dead. */
  readonly keepAliveMs: number
  /** Replies that a session keeps, for clients that name an earlier one or send a request again. */
  readonly replies: number
}

const DEFAULTS: GatewayLimits = {
  bodyBytes: 32 * 2 ** 20,
  depth: 128,
  values: 2 ** 19,
  headerMs: 10_000,
  bodyMs: 30_000,
  callMs: 1_800_000,
  calls: 4096,
  callsPerSession: 64,
  unreadBytes: 2 ** 20,
  unreadMs: 60_000,
  keepAliveMs: 15_000,
  replies: 256,
}

export function limitsOf(given: Partial<GatewayLimits> = {}): GatewayLimits {
  const limits = { ...DEFAULTS }
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue
    if (!Object.hasOwn(DEFAULTS, name) || !Number.isSafeInteger(value) || value < 1) {
      throw new TrinityError('gateway/limit', `a gateway cannot have the limit ${name}: ${value}`, {
        path: `limits.${name}`,
        hint: `a whole number above 0 for one of ${Object.keys(DEFAULTS).join(', ')}`,
      })
    }
    Object.assign(limits, { [name]: value })
  }
  return limits
}
