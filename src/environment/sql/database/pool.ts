import { availableParallelism } from 'node:os'
import type { Answer, Base, Call } from './protocol.js'
import { SqlThread } from './thread.js'

/** Statements are short, and the machine has other things to do. */
const THREADS = Math.min(4, Math.max(1, availableParallelism() - 1))
const IDLE_MS = 600_000

type Waiting = (thread: SqlThread | undefined) => void

/**
 * Threads that run SQL, as many as there are processors but few. They keep nothing of an episode, so that any of them
 * takes any statement, and one that has to be ended is replaced without anybody noticing.
 */
export class SqlPool {
  readonly #size: number
  readonly #free: SqlThread[] = []
  readonly #waiting: Waiting[] = []
  #busy = 0
  #idle: NodeJS.Timeout | undefined

  constructor(size = THREADS) {
    this.#size = size
  }

  /** The signal ends the wait for a thread; a statement ends by its own limit. */
  async run(base: Base, call: Call, signal?: AbortSignal): Promise<Answer> {
    const thread = await this.#take(signal)
    try {
      return await thread.run(base, call)
    } finally {
      this.#give(thread)
    }
  }

  async #take(signal: AbortSignal | undefined): Promise<SqlThread> {
    signal?.throwIfAborted()
    clearTimeout(this.#idle)
    if (this.#busy >= this.#size) return (await this.#wait(signal)) ?? new SqlThread()
    this.#busy++
    return this.#free.pop() ?? new SqlThread()
  }

  /** Whoever waits takes the place of the one who leaves. */
  #give(thread: SqlThread): void {
    const next = this.#waiting.shift()
    const usable = thread.isAlive ? thread : undefined
    if (next) {
      next(usable)
      return
    }
    this.#busy--
    if (usable) this.#free.push(usable)
    if (this.#busy === 0) this.#idle = setTimeout(() => this.close(), IDLE_MS).unref()
  }

  #wait(signal: AbortSignal | undefined): Promise<SqlThread | undefined> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = (thread) => {
        signal?.removeEventListener('abort', stop)
        resolve(thread)
      }
      const stop = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', stop, { once: true })
      this.#waiting.push(waiting)
    })
  }

  /** Ends the threads that do nothing. */
  close(): void {
    for (const thread of this.#free.splice(0)) thread.end()
  }
}

/** All worlds of a process share it. */
export const sqlPool = new SqlPool()
