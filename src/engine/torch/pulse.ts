import type { Readable } from 'node:stream'

/** How often a worker gives a sign of life: see life.py. */
export const BEAT_MS = 1000

/**
 * The signs of life of a worker. One that computes or waits gives them; one that is stopped, or whose threads no longer
 * get to run, does not. What counts is how often somebody looked in vain: a clock would go on while the machine sleeps.
 */
export class Pulse {
  #missed = 0

  constructor(beats: Readable | undefined) {
    beats?.on('data', () => {
      this.#missed = 0
    })
  }

  /** To be called every BEAT_MS. */
  look(): void {
    this.#missed++
  }

  /** For how long there was no sign. */
  get silentMs(): number {
    return this.#missed * BEAT_MS
  }
}
