import type { SpanLane } from './span.js'

/** Shorter breaks are none: a span for every request of an agent would say less. */
const GAP_MS = 5
/** A lane that never rests is shown in parts. */
const LONGEST_MS = 1000

/** When something that works on many requests at once is at work at all. */
export class Busy {
  readonly #lane: SpanLane
  #running = 0
  #begun: number | undefined
  #rested = 0
  #requests = 0

  constructor(lane: SpanLane) {
    this.#lane = lane
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#begin(performance.now())
    try {
      return await work()
    } finally {
      this.#end(performance.now())
    }
  }

  /** What is under way is noted as far as it got. */
  close(): void {
    this.#note()
  }

  #begin(now: number): void {
    if (this.#running === 0 && now - this.#rested > GAP_MS) this.#note()
    this.#begun ??= now
    this.#running++
    this.#requests++
  }

  #end(now: number): void {
    this.#running--
    this.#rested = now
    if (this.#begun === undefined || now - this.#begun < LONGEST_MS) return
    this.#note()
    if (this.#running > 0) this.#begun = now
  }

  #note(): void {
    if (this.#begun === undefined) return
    const label = `${this.#requests} ${this.#requests === 1 ? 'request' : 'requests'}`
    const until = this.#running > 0 ? performance.now() : this.#rested
    this.#lane.done('work', label, this.#begun, undefined, until)
    this.#begun = undefined
    this.#requests = this.#running
  }
}
