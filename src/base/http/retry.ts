/** How often, and how patiently, a call is repeated. */
export interface RetryPolicy {
  /** Attempts after the first. 0: none. */
  readonly times: number
  /** The first wait; the waits double. */
  readonly firstMs?: number
  readonly mostMs?: number
}

const FIRST_MS = 500
const MOST_MS = 30_000

/** How long to wait before attempt number `attempt` + 1, counted from 0. A server that says when is believed. */
export function waitMs(
  attempt: number,
  { firstMs = FIRST_MS, mostMs = MOST_MS }: RetryPolicy,
  askedMs = 0,
  random: () => number = Math.random,
): number {
  const own = Math.min(mostMs, firstMs * 2 ** attempt)
  // everybody who was turned away at once must not come back at once
  return askedMs > 0 ? askedMs + random() * Math.min(own, askedMs) : own * (0.5 + random() / 2)
}

/** What a server asks for: seconds, a date, or (as some do) milliseconds in a header of their own. */
export function retryAfterMs(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  now = Date.now(),
): number | undefined {
  const exact = Number(headers['retry-after-ms'] || Number.NaN)
  if (exact >= 0) return exact
  const text = headers['retry-after']
  if (typeof text !== 'string' || text.trim() === '') return undefined
  if (Number(text) >= 0) return Number(text) * 1000
  const until = Date.parse(text) - now
  return Number.isNaN(until) ? undefined : Math.max(0, until)
}
