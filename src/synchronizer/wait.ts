import { TrinityError } from '../base/error.js'

const MAX_DELAY_MS = 2 ** 31 - 1

/** A place where one side can stand, with a name, a deadline and a way out. */
export class NamedWait {
  readonly #timeoutMs: number
  #current: { reason: string; release: () => void } | undefined

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  /** Why somebody stands here; undefined when nobody does. */
  get reason(): string | undefined {
    return this.#current?.reason
  }

  release(): void {
    this.#current?.release()
  }

  async wait(reason: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    let leave = () => {}
    try {
      await new Promise<void>((resolve, reject) => {
        const abort = () => reject(signal.reason)
        const late = () => reject(tooLate(reason, this.#timeoutMs))
        const timer = setTimeout(late, Math.min(this.#timeoutMs, MAX_DELAY_MS))
        signal.addEventListener('abort', abort, { once: true })
        leave = () => {
          clearTimeout(timer)
          signal.removeEventListener('abort', abort)
          this.#current = undefined
        }
        const release = () => {
          leave()
          resolve()
        }
        this.#current = { reason, release }
      })
    } finally {
      leave()
    }
  }
}

export function tooLate(reason: string, timeoutMs: number): TrinityError {
  return new TrinityError('sync/timeout', `${reason}: nothing arrived for ${timeoutMs / 1000} s`, {
    path: 'synchronizer.sync_timeout',
    hint: 'check the log of the other side; raise synchronizer.sync_timeout if it is only slow',
  })
}
