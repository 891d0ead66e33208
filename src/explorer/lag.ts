import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'

const RESOLUTION_MS = 5

/** How late the event loop is: what a workflow that computes for long, or too many at once, does to everybody else. */
export class LoopLag {
  readonly #histogram: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })

  start(): void {
    this.#histogram.enable()
  }

  /** Returns the metrics of the time since the last call, in milliseconds. */
  take(): Record<string, number> {
    const ms = (ns: number) => Math.max(0, (Number.isFinite(ns) ? ns : 0) / 1e6 - RESOLUTION_MS)
    const h = this.#histogram
    const isEmpty = h.count === 0
    const lag = {
      'explorer/event_loop_lag_ms/p50': isEmpty ? 0 : ms(h.percentile(50)),
      'explorer/event_loop_lag_ms/p99': isEmpty ? 0 : ms(h.percentile(99)),
      'explorer/event_loop_lag_ms/max': isEmpty ? 0 : ms(h.max),
    }
    h.reset()
    return lag
  }

  stop(): void {
    this.#histogram.disable()
  }
}
