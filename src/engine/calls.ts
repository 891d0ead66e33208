import { TrinityError } from '../base/error.js'
import type { Call } from './contract.js'

/**
 * The order of calls that change one model. Calls run one after the other; a repeated `seq` gets the answer of the
 * first one, so a retry after a lost answer never adds a gradient twice.
 */
export class CallOrder {
  readonly #model: string
  #last = -1
  #answer: Promise<unknown> = Promise.resolve()
  /** Settles when the work of the last call has really stopped, which may be after its deadline. */
  #idle: Promise<unknown> = Promise.resolve()

  constructor(model: string) {
    this.#model = model
  }

  run<T>(call: Call, what: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (call.seq === this.#last) return this.#answer as Promise<T>
    if (call.seq < this.#last) {
      return Promise.reject(
        new TrinityError('engine/stale-call', `${what}: call ${call.seq} comes after call ${this.#last}`, {
          path: this.#model,
          hint: 'calls on one model must carry increasing seq numbers',
        }),
      )
    }
    this.#last = call.seq
    const before = this.#idle
    const answer = within(call, `${what} on ${this.#model}`, (signal) => {
      const running = before.then(() => {
        signal.throwIfAborted()
        return work(signal)
      })
      this.#idle = running.catch(() => {})
      return running
    })
    answer.catch(() => {})
    this.#answer = answer
    return answer
  }
}

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

/** Longest delay a timer takes. */
const MAX_DELAY_MS = 2 ** 31 - 1

/**
 * Runs `work` under the call's signal and deadline; the work gets one signal for both and must stop when it fires.
 * With `stop` the work fires that signal itself, which ends what it has begun.
 */
export async function within<T>(
  call: Call,
  what: string,
  work: (signal: AbortSignal, stop: (reason: unknown) => void) => Promise<T>,
): Promise<T> {
  const control = new AbortController()
  const abort = () => control.abort(call.signal?.reason)
  if (call.signal?.aborted) abort()
  call.signal?.addEventListener('abort', abort, { once: true })
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => {
        const error = new TrinityError('engine/deadline', `${what} did not finish within ${call.deadlineMs} ms`, {
          hint: 'raise the timeout, or make the batch smaller',
        })
        control.abort(error)
        reject(error)
      },
      Math.min(call.deadlineMs, MAX_DELAY_MS),
    )
  })
  try {
    return await Promise.race([work(control.signal, (reason) => control.abort(reason)), late])
  } finally {
    clearTimeout(timer)
    call.signal?.removeEventListener('abort', abort)
  }
}
