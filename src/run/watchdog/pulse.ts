/** How often the main thread shows that its event loop turns, and how often that is looked at. */
export const BEAT_MS = 200
export const LOOK_MS = 250

/**
 * How long the event loop has stood still. Looks are counted, not time: while a process is stopped or a laptop sleeps
 * nobody looks, so nothing is counted.
 */
export class Pulse {
  #last = -1
  #looks = 0

  /** Milliseconds since the number of beats last changed. */
  look(beats: number): number {
    this.#looks = beats === this.#last ? this.#looks + 1 : 0
    this.#last = beats
    return this.#looks * LOOK_MS
  }
}
