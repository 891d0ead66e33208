import { TrinityError } from '../base/error.js'
import type { Waiting } from './buffer.js'

export interface WaitRequest {
  who: string
  /** Read again at every look: what is being waited for right now. */
  reason: () => string
  deadlineMs: number
  signal?: AbortSignal
  /** Look again after this long even if nobody wakes us. */
  lookMs?: () => number | undefined
  /** Code of the error at the deadline. */
  code: string
  hint?: string
}

interface Sleeper extends Waiting {
  wake: () => void
  fail: (error: TrinityError) => void
}

/** Those who wait at a buffer, each with a name, a reason and a deadline. */
export class Waiters {
  readonly #buffer: string
  readonly #sleepers = new Map<Sleeper, () => string>()
  #closed = false
  /** Counts the wake-ups. */
  #turn = 0

  constructor(buffer: string) {
    this.#buffer = buffer
  }

  /** Calls `attempt` now and after every wake-up, until it gives a value. */
  async until<T>(request: WaitRequest, attempt: () => T | undefined | Promise<T | undefined>): Promise<T> {
    // not the clock of the machine: that may be set while somebody waits
    const since = performance.now()
    const deadline = since + request.deadlineMs
    for (;;) {
      this.check()
      if (request.signal?.aborted) throw this.#abortedError(request)
      // The ticket is drawn before looking: a wake-up that comes during an asynchronous look is not missed.
      const seen = this.#turn
      let value: T | undefined
      try {
        value = await attempt()
      } catch (error) {
        // A connection that was closed under a running query complains in its own words.
        this.check()
        throw error
      }
      if (value !== undefined) return value
      if (seen !== this.#turn) continue
      const left = deadline - performance.now()
      if (left <= 0) throw this.#lateError(request)
      await this.#sleep(request, since, Math.min(left, request.lookMs?.() ?? left))
    }
  }

  /** Throws when the buffer is closed. */
  check(): void {
    if (this.#closed) throw this.#closedError()
  }

  wake(): void {
    this.#turn++
    for (const sleeper of [...this.#sleepers.keys()]) sleeper.wake()
  }

  list(): Waiting[] {
    return [...this.#sleepers].map(([{ who, sinceMs }, reason]) => ({ who, reason: reason(), sinceMs }))
  }

  /** Fails everybody who waits, now and later. */
  close(): void {
    this.#closed = true
    for (const sleeper of [...this.#sleepers.keys()]) sleeper.fail(this.#closedError())
  }

  #sleep(request: WaitRequest, sinceMs: number, ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (act: () => void) => {
        clearTimeout(timer)
        request.signal?.removeEventListener('abort', onAbort)
        this.#sleepers.delete(sleeper)
        act()
      }
      const onAbort = () => settle(() => reject(this.#abortedError(request)))
      const sleeper: Sleeper = {
        who: request.who,
        reason: '',
        sinceMs,
        wake: () => settle(resolve),
        fail: (error) => settle(() => reject(error)),
      }
      // setTimeout counts in 32 bits; a longer wait simply looks again in between.
      const timer = setTimeout(() => settle(resolve), Math.min(Math.max(1, ms), 0x7fffffff))
      request.signal?.addEventListener('abort', onAbort)
      this.#sleepers.set(sleeper, request.reason)
    })
  }

  #lateError(request: WaitRequest): TrinityError {
    const seconds = request.deadlineMs / 1000
    return new TrinityError(request.code, `${request.who} waited ${seconds} s for ${request.reason()}`, {
      path: this.#buffer,
      hint: request.hint,
    })
  }

  #abortedError(request: WaitRequest): TrinityError {
    return new TrinityError('buffer/aborted', `${request.who} stopped waiting for ${request.reason()}`, {
      path: this.#buffer,
      cause: request.signal?.reason,
    })
  }

  #closedError(): TrinityError {
    return new TrinityError('buffer/closed', `buffer '${this.#buffer}' is closed`, { path: this.#buffer })
  }
}
