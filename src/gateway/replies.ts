import { TrinityError } from '../base/error.js'
import type { Answered } from '../dialect/chat-model.js'
import type { CallRecord } from './session.js'

/** A reply as it was sent. */
export interface Reply {
  readonly record: { -readonly [K in keyof CallRecord]: CallRecord[K] }
  /** JSON, or events; empty for events that nobody will ask for again. */
  readonly text: string
  readonly answers: readonly Answered[]
}

interface Kept {
  readonly body: string
  /** Undefined where the call failed: the next request with this key is a first one. */
  readonly reply: Promise<Reply | undefined>
}

type Settle = (reply: Reply | undefined) => void
/** Waits for another call, as long as the caller's own goes on. */
type Wait = <T>(work: Promise<T>) => Promise<T>

const LONGEST_KEY = 255

/** Replies by the idempotency key of their request, so that a request that is sent again is not sampled again. */
export class Replies {
  readonly #kept = new Map<string, Kept>()
  readonly #most: number
  /** Told of what a reply said when it is forgotten and reached nobody. */
  readonly #onLoss: (answers: readonly Answered[]) => void

  constructor(most: number, onLoss: (answers: readonly Answered[]) => void) {
    this.#most = most
    this.#onLoss = onLoss
  }

  /**
   * The reply to this request, when there is one or will be; `body` tells whether it is the same request. Else the caller
   * is the one to answer it, and gets a function that tells how this ended.
   */
  async claim(key: string, body: string, wait: Wait): Promise<Reply | Settle> {
    if (key.length > LONGEST_KEY) {
      throw new TrinityError('gateway/idempotency', `the idempotency-key is longer than ${LONGEST_KEY} characters`)
    }
    // A call that failed is gone from the map, and another may have begun with its key in the meantime.
    for (let kept = this.#kept.get(key); kept; kept = this.#kept.get(key)) {
      if (kept.body !== body) {
        throw new TrinityError('gateway/idempotency', 'the idempotency-key belongs to another request', {
          hint: 'a new request needs a new key',
        })
      }
      const reply = await wait(kept.reply)
      if (reply) return reply
    }
    return this.#begin(key, body)
  }

  #begin(key: string, body: string): Settle {
    let settle: Settle = () => {}
    const kept = { body, reply: new Promise<Reply | undefined>((resolve) => (settle = resolve)) }
    this.#kept.set(key, kept)
    if (this.#kept.size > this.#most) this.#forget(this.#kept.keys().next().value!)
    return (reply) => {
      if (reply === undefined && this.#kept.get(key) === kept) this.#kept.delete(key)
      settle(reply)
    }
  }

  /** Forgets all; what has not reached anybody never will. */
  clear(): void {
    for (const key of this.#kept.keys()) this.#forget(key)
  }

  #forget(key: string): void {
    const { reply } = this.#kept.get(key)!
    this.#kept.delete(key)
    reply.then((one) => {
      if (one && !one.record.finished) this.#onLoss(one.answers)
    })
  }
}
