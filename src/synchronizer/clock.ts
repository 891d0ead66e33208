import { setTimeout as pause } from 'node:timers/promises'

/** Time as one process measures it for itself. Never compared with that of another. */
export interface Clock {
  /** Milliseconds since some moment; never goes back. */
  now(): number
  /** Ends early, and without an error, when the signal says so. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Calls again and again, without keeping the process alive; gives how to end it. */
  every(ms: number, act: () => void): () => void
}

export const monotonic: Clock = {
  now: () => performance.now(),
  sleep: (ms, signal) => pause(ms, undefined, { signal }).catch(() => {}),
  every: (ms, act) => {
    const timer = setInterval(act, ms)
    timer.unref()
    return () => clearInterval(timer)
  },
}
