import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'

const RESOLUTION_MS = 5

/** How late the event loop is: what a workflow that computes for long, or too many at once, does to everybody else. */
export class LoopLag {
  readonly #histogram: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })

  start(): void {
    this.#histogram.enable()
  }

  /** Milliseconds since the last time it was asked. */
  take(): { p50: number; p99: number; max: number } {
    const ms = (ns: number) => Math.max(0, (Number.isFinite(ns) ? ns : 0) / 1e6 - RESOLUTION_MS)
    const h = this.#histogram
    const lag =
      h.count === 0
        ? { p50: 0, p99: 0, max: 0 }
        : { p50: ms(h.percentile(50)), p99: ms(h.percentile(99)), max: ms(h.max) }
    h.reset()
    return lag
  }

  stop(): void {
    this.#histogram.disable()
  }
}
