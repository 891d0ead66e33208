import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf, TrinityError } from '../../base/error.js'
import { PrefixMemory, prefixOf } from './prefix-memory.js'
import type { ServerApi } from './server-api.js'
import type { ServerSource } from './server-source.js'

/** Samples under way that a server may have more than the idlest one for the sake of its cache. */
const SLACK = 8
const HEALTH_MS = 30_000
const ASKED = 3
const ASK_AGAIN_MS = 100
/** Starts of a server that fail one after the other. */
const MOST_STARTS = 3

/** One of the servers behind a sampler. */
export interface Member {
  readonly source: ServerSource
  api: ServerApi | undefined
  /** Samples under way. */
  load: number
  readonly prefixes: PrefixMemory
  /** Set while it is being brought back. */
  reviving: Promise<void> | undefined
  /** Why it will not come back. */
  given: TrinityError | undefined
}

export interface PoolEvents {
  note(text: string): void
  /** A server that came back has the weights of its folder: gives it those that the others have, and calls `join`. */
  restore(api: ServerApi, signal: AbortSignal, join: () => void): Promise<void>
}

/** Servers that all have the same weights. One that is lost is brought back while the others go on. */
export class ServerPool {
  readonly members: readonly Member[]
  events: PoolEvents = { note: () => {}, restore: async (_api, _signal, join) => join() }
  /** Rises when a server is lost or comes back. */
  generation = 0
  readonly #closing = new AbortController()
  readonly #waiting = new Set<() => void>()

  constructor(sources: readonly ServerSource[]) {
    this.members = sources.map((source) => {
      const prefixes = new PrefixMemory()
      const member: Member = { source, api: undefined, load: 0, prefixes, reviving: undefined, given: undefined }
      source.onLost = (why) => this.#lost(member, why)
      return member
    })
  }

  /** Starts all of them at once, and fails if one does. */
  async open(signal: AbortSignal): Promise<void> {
    const both = AbortSignal.any([signal, this.#closing.signal])
    const opened = await Promise.allSettled(
      this.members.map(async (member) => {
        member.api = await member.source.open(both)
      }),
    )
    const failed = opened.find((one) => one.status === 'rejected')
    if (!failed) return
    await this.close()
    throw failed.reason
  }

  /** Those that take requests. */
  get up(): (Member & { readonly api: ServerApi })[] {
    return this.members.filter((member): member is Member & { api: ServerApi } => member.api !== undefined)
  }

  /** The server for a prompt: the idlest, or one that knows the prompt's beginning and is nearly as idle. */
  pick(prompt: Int32Array): (Member & { readonly api: ServerApi }) | undefined {
    const { up } = this
    if (up.length < 2) return up[0]
    const prefix = prefixOf(prompt)
    const least = Math.min(...up.map(({ load }) => load))
    const near = up.filter(({ load }) => load <= least + SLACK)
    const known = near.map((member) => member.prefixes.known(prefix))
    const most = Math.max(...known)
    const best = near.filter((_, i) => known[i] === most)
    const chosen = best.reduce((a, b) => (b.load < a.load ? b : a))
    chosen.prefixes.add(prefix)
    return chosen
  }

  /** A call of this server failed: is it gone? */
  async examine(member: Member): Promise<boolean> {
    const { api } = member
    const { signal } = this.#closing
    for (let asked = 1; ; asked++) {
      // somebody else may notice first, and one that is closed is asked nothing
      if (signal.aborted || !api || member.api !== api) return true
      try {
        await api.health({ deadlineMs: HEALTH_MS, signal })
        return false
      } catch (error) {
        // a machine under load is slow, and drops connections
        if (asked < ASKED && !signal.aborted) await sleep(ASK_AGAIN_MS * asked)
        else if (member.api === api) this.#lost(member, `does not answer (${messageOf(error)})`)
      }
    }
  }

  /** Resolves when a server takes requests again; throws when none ever will. */
  async someUp(signal: AbortSignal): Promise<void> {
    while (this.up.length === 0) {
      this.#closing.signal.throwIfAborted()
      signal.throwIfAborted()
      if (this.members.every(({ given }) => given)) throw this.members[0].given
      await this.#change(signal)
    }
  }

  /** Takes a server out whose weights are not those of the others, and starts it anew. */
  discard(member: Member, why: string): void {
    if (member.api) this.#lost(member, why)
  }

  async close(): Promise<void> {
    this.#closing.abort(new TrinityError('engine/closed', 'the sampler is closed'))
    for (const { api } of this.members) api?.close()
    await Promise.all(this.members.map(({ source }) => source.close()))
  }

  #lost(member: Member, why: string): void {
    if (this.#closing.signal.aborted || member.reviving) return
    member.api?.close()
    member.api = undefined
    member.prefixes.clear()
    this.events.note(
      `${member.source.name} ${why}; it is brought back, ${this.up.length} of ${this.members.length} go on`,
    )
    member.reviving = this.#revive(member).finally(() => {
      member.reviving = undefined
      this.#tell()
    })
    this.#tell()
  }

  async #revive(member: Member): Promise<void> {
    const { signal } = this.#closing
    for (let starts = 1; ; starts++) {
      try {
        const api = await member.source.open(signal)
        await this.events.restore(api, signal, () => {
          member.api = api
        })
        this.events.note(`${member.source.name} is back`)
        return
      } catch (cause) {
        if (signal.aborted) return
        if (starts < MOST_STARTS) continue
        member.given = new TrinityError('engine/server', `${member.source.name} is lost: ${messageOf(cause)}`, {
          hint: 'its log says why; the run resumes from its last checkpoint when it is started again',
          cause,
        })
        this.events.note(`${member.source.name} does not come back: ${messageOf(cause)}`)
        return
      }
    }
  }

  #change(signal: AbortSignal): Promise<void> {
    const either = AbortSignal.any([signal, this.#closing.signal])
    return new Promise((resolve) => {
      const tell = () => {
        this.#waiting.delete(tell)
        either.removeEventListener('abort', tell)
        resolve()
      }
      this.#waiting.add(tell)
      either.addEventListener('abort', tell, { once: true })
    })
  }

  #tell(): void {
    this.generation++
    for (const tell of [...this.#waiting]) tell()
  }
}
