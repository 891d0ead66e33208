import { setMaxListeners } from 'node:events'

/** Why a side was told to end although nothing is wrong. */
export class RunOver extends Error {
  override readonly name = 'RunOver'
}

/** Asked for by a person, or by a failure outside of every call: to end after the step under way, or at once. */
export class Stop {
  readonly #gentle = new AbortController()
  readonly #now = new AbortController()
  #failure: unknown

  constructor() {
    // Every call that is under way listens.
    setMaxListeners(0, this.#gentle.signal, this.#now.signal)
  }

  get gentle(): AbortSignal {
    return this.#gentle.signal
  }

  get now(): AbortSignal {
    return this.#now.signal
  }

  /** What the run fails with once it has ended; undefined: nobody has failed it. */
  get failure(): unknown {
    return this.#failure
  }

  /** Ends the run as `request` does, so that what is trained is saved; then it has failed. */
  fail(error: unknown): void {
    this.#failure ??= error
    this.request()
  }

  request(): void {
    this.#gentle.abort(new RunOver('the run was asked to stop'))
  }

  force(): void {
    this.request()
    this.#now.abort(new RunOver('the run was told to stop immediately'))
  }
}
