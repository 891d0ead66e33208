/** Upper ends of the buckets, in milliseconds. */
export const BUCKETS_MS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000, 300_000,
] as const

/** How often each duration was seen. */
export interface HistogramCounts {
  /** One for each of `BUCKETS_MS`, and one for what is longer. */
  readonly counts: readonly number[]
  readonly count: number
  readonly sumMs: number
}

export class Histogram {
  readonly #counts = new Array<number>(BUCKETS_MS.length + 1).fill(0)
  #count = 0
  #sumMs = 0

  add(ms: number): void {
    const at = BUCKETS_MS.findIndex((end) => ms <= end)
    this.#counts[at < 0 ? BUCKETS_MS.length : at]++
    this.#count++
    this.#sumMs += ms
  }

  read(): HistogramCounts {
    return { counts: [...this.#counts], count: this.#count, sumMs: this.#sumMs }
  }
}
