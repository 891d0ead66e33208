import type { RayJobs } from './jobs.js'

/** A log as it grows, sent once and not again for each look at it. */
export class JobTail {
  /** Characters that were written; line ends count as one, as in the log that is asked for as a whole. */
  shown = 0
  /** Nothing comes any more: the rest must be asked for. */
  hasEnded = false
  readonly #write: (text: string) => void
  readonly #stop = new AbortController()
  readonly #done: Promise<void>

  /** `follows`: the job runs, and there is something to come. */
  constructor(jobs: RayJobs, id: string, write: (text: string) => void, follows = true) {
    this.#write = write
    this.#done = follows ? this.#follow(jobs, id).catch(() => {}) : Promise.resolve()
  }

  /** The log as far as it is known; what was shown already is not shown again. */
  catchUp(whole: string): void {
    // a log that was cut is begun anew
    if (whole.length < this.shown) this.shown = 0
    if (whole.length > this.shown) this.#write(whole.slice(this.shown))
    this.shown = whole.length
  }

  async close(): Promise<void> {
    this.#stop.abort()
    await this.#done
  }

  async #follow(jobs: RayJobs, id: string): Promise<void> {
    try {
      for await (const text of jobs.tail(id, this.#stop.signal)) {
        if (this.#stop.signal.aborted) return
        this.shown += text.replaceAll('\r\n', '\n').length
        this.#write(text)
      }
    } finally {
      this.hasEnded = true
    }
  }
}
