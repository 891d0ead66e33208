import { TrinityError } from '../../base/error.js'

interface Waiting {
  readonly enter: () => void
}

/** How many requests are under way at once, and how many may wait. Closed, it lets nobody in, but keeps who waits. */
export class Gate {
  readonly #slots: number
  readonly #maxQueue: number
  readonly #queue = new Set<Waiting>()
  readonly #emptied: (() => void)[] = []
  #running = 0
  #closed = 0

  constructor(slots: number, maxQueue: number) {
    this.#slots = slots
    this.#maxQueue = maxQueue
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#queue.size
  }

  /** Resolves with what is to be called at the end; undefined: the signal came first. */
  enter(signal: AbortSignal): Promise<(() => void) | undefined> {
    if (signal.aborted) return Promise.resolve(undefined)
    if (this.#closed === 0 && this.#running < this.#slots) return Promise.resolve(this.#admit())
    if (this.#queue.size >= this.#maxQueue) {
      throw new TrinityError('engine/busy', `${this.#queue.size} requests are waiting already`, {
        hint: 'send fewer at once, or raise maxQueue',
      })
    }
    return new Promise((resolve) => {
      const give = () => {
        this.#queue.delete(waiting)
        signal.removeEventListener('abort', give)
        resolve(signal.aborted ? undefined : this.#admit())
      }
      const waiting = { enter: give }
      this.#queue.add(waiting)
      signal.addEventListener('abort', give, { once: true })
    })
  }

  /** Lets nobody in until the answer is called. */
  close(): () => void {
    this.#closed++
    return () => {
      this.#closed--
      this.#next()
    }
  }

  /** Resolves when nothing is under way. */
  empty(signal: AbortSignal): Promise<void> {
    if (this.#running === 0) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const stop = () => reject(signal.reason)
      this.#emptied.push(() => {
        signal.removeEventListener('abort', stop)
        resolve()
      })
      if (signal.aborted) stop()
      signal.addEventListener('abort', stop, { once: true })
    })
  }

  #admit(): () => void {
    this.#running++
    let left = false
    return () => {
      if (left) return
      left = true
      this.#running--
      if (this.#running === 0) for (const tell of this.#emptied.splice(0)) tell()
      this.#next()
    }
  }

  #next(): void {
    while (this.#closed === 0 && this.#running < this.#slots && this.#queue.size > 0) {
      const [first] = this.#queue
      first.enter()
    }
  }
}
