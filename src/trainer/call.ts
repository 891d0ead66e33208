import type { Call } from '../engine/contract.js'

/** A call on a model may take long, but not for ever: a hanging engine becomes an error that says what hung. */
const DEADLINE_MS = 6 * 3_600_000

let last = 0

/**
 * The next call of this process. One counter serves every model, so that calls of the trainer and of whoever loads or
 * saves its models always come in order.
 */
export function nextCall(signal?: AbortSignal, deadlineMs = DEADLINE_MS): Call {
  last++
  return { seq: last, signal, deadlineMs }
}
