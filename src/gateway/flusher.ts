/** Something that holds text back to send it later. */
export interface Holding {
  flush(): void
}

/** Sending takes one part of the time, and then rests for so many. */
const REST = 9
/** But never for longer: on a busy machine a round may take long that costs little. */
const LONGEST_MS = 250
/** What is nearer than this is done at once: timers are no finer. */
const SOON_MS = 1

/**
 * Sends what many streams hold back. A write for every token of a thousand streams costs more than all else; so the more
 * sending costs, the more tokens it takes along. With few streams, or slow ones, nothing waits.
 */
export class Flusher {
  readonly #holding = new Set<Holding>()
  #isDue = false
  #earliestMs = 0

  add(one: Holding): void {
    this.#holding.add(one)
    if (this.#isDue) return
    this.#isDue = true
    const wait = this.#earliestMs - performance.now()
    if (wait > SOON_MS) setTimeout(this.#flush, wait)
    else setImmediate(this.#flush)
  }

  delete(one: Holding): void {
    this.#holding.delete(one)
  }

  readonly #flush = () => {
    const begun = performance.now()
    this.#isDue = false
    for (const one of this.#holding) one.flush()
    this.#holding.clear()
    // Sockets write at the end of this turn.
    process.nextTick(() => {
      const now = performance.now()
      this.#earliestMs = now + Math.min(REST * (now - begun), LONGEST_MS)
    })
  }
}
