/** Nobody waits longer than that for a loop that stands still. */
const MOST_MS = 60_000
/** Less could be a machine with too much to do. */
const LEAST_MS = 2000

/** How long the event loop may stand still: as long as a rollout may take, within reason. */
export function blockLimit(timeoutsMs: readonly number[]): number {
  return Math.min(MOST_MS, Math.max(LEAST_MS, ...timeoutsMs))
}

/** After SIGTERM, and after a second Ctrl-C, the main thread has this long to hear of it. */
const TERM_MS = 5000
const AGAIN_MS = 2000

/** Signals that came while the event loop stood still: the main thread does not get them. */
export class UnheardSignals {
  #interrupts = 0
  #terms = 0

  heard(signal: 'SIGINT' | 'SIGTERM'): void {
    if (signal === 'SIGINT') this.#interrupts++
    else this.#terms++
  }

  /** The main thread runs: it has them. */
  clear(): void {
    this.#interrupts = 0
    this.#terms = 0
  }

  /** Ctrl-C came twice: somebody wants the process to end now. */
  get isInsistent(): boolean {
    return this.#interrupts > 1
  }

  /** How long the loop may stand still now. */
  limit(ms: number): number {
    if (this.isInsistent) return Math.min(ms, AGAIN_MS)
    return this.#terms > 0 ? Math.min(ms, TERM_MS) : ms
  }
}
