/** Seconds spent in each part of a step, as `time/<part>`. */
export class Stopwatch {
  readonly #begin = performance.now()
  readonly #seconds: Record<string, number> = {}

  async time<T>(part: string, work: () => Promise<T> | T): Promise<T> {
    const begin = performance.now()
    try {
      return await work()
    } finally {
      this.add(part, (performance.now() - begin) / 1000)
    }
  }

  add(part: string, seconds: number): void {
    this.#seconds[part] = (this.#seconds[part] ?? 0) + seconds
  }

  get(part: string): number {
    return this.#seconds[part] ?? 0
  }

  /** Since it was made. */
  total(): number {
    return (performance.now() - this.#begin) / 1000
  }

  metrics(): Record<string, number> {
    return Object.fromEntries(Object.entries(this.#seconds).map(([part, seconds]) => [`time/${part}`, seconds]))
  }
}
