/** Something that holds text back to send it later. */
export interface Holding {
  flush(): void
}

/** Sending takes one part of the time, and then rests for so many; but never for so long that all take more than a round. */
const REST = 9
const ROUND_MS = 250
/** So many steps make a round: between them other work has its turn. */
const STEPS = 40
/** What is nearer than this is done at once: timers are no finer. */
const SOON_MS = 1

/**
 * Sends what many streams hold back, those first that hold it for longest. A write for every token of a thousand streams
 * costs more than all else; so the more sending costs, the more tokens it takes along. With few streams, or slow ones,
 * nothing waits.
 */
export class Flusher {
  readonly #holding = new Set<Holding>()
  #isDue = false
  #earliestMs = 0

  add(one: Holding): void {
    this.#holding.add(one)
    this.#plan()
  }

  delete(one: Holding): void {
    this.#holding.delete(one)
  }

  #plan(): void {
    if (this.#isDue || this.#holding.size === 0) return
    this.#isDue = true
    const wait = this.#earliestMs - performance.now()
    if (wait > SOON_MS) setTimeout(this.#step, wait)
    else setImmediate(this.#step)
  }

  readonly #step = () => {
    const begun = performance.now()
    let left = Math.ceil(this.#holding.size / STEPS)
    for (const one of this.#holding) {
      if (left-- === 0) break
      this.#holding.delete(one)
      one.flush()
    }
    // Sockets write at the end of this turn.
    process.nextTick(() => {
      const now = performance.now()
      this.#earliestMs = now + Math.min(REST * (now - begun), ROUND_MS / STEPS)
      this.#isDue = false
      this.#plan()
    })
  }
}
