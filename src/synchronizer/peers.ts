import type { Clock } from './clock.js'
import { isOver, type RoleStatus } from './status.js'
import type { StatusStore } from './status-store.js'

/** Another process of the job, as this one has seen it. */
export interface Peer {
  readonly status: RoleStatus
  /** How long, on the clock of this process, its status has not changed. */
  readonly silentMs: number
  /** It has changed since this process looked first: so it is not what a dead process left behind earlier. */
  readonly lived: boolean
  /** It was started after this process looked first. */
  readonly born: boolean
}

/** A process that has not changed its status for so long is taken for dead, or for one that hangs. */
export const SILENT_MS = 30_000

export function isAlive({ status, silentMs, lived }: Peer): boolean {
  return lived && silentMs < SILENT_MS && !isOver(status)
}

interface Sight {
  boot: string
  beat: number
  changedAt: number
  lived: boolean
  born: boolean
}

/**
 * Watches the statuses of the others. Whether one is alive is told by its counter, which goes on or does not, and by
 * the clock of this process: clocks of two machines are never compared.
 */
export class Peers {
  readonly #store: StatusStore
  readonly #clock: Clock
  readonly #self: string
  readonly #sights = new Map<string, Sight>()

  private constructor(store: StatusStore, clock: Clock, self: string) {
    this.#store = store
    this.#clock = clock
    this.#self = self
  }

  /** What stands there now may have been left by the dead. */
  static async open(store: StatusStore, clock: Clock, self: string): Promise<Peers> {
    const peers = new Peers(store, clock, self)
    const changedAt = clock.now()
    for (const { name, boot, beat } of await peers.#others()) {
      peers.#sights.set(name, { boot, beat, changedAt, lived: false, born: false })
    }
    return peers
  }

  /** Everybody else who has ever had a part in the job; who showed life last comes first. */
  async look(role: RoleStatus['role']): Promise<Peer[]> {
    const others = await this.#others()
    const now = this.#clock.now()
    const seen = others.map((status) => {
      const { changedAt, lived, born } = this.#see(status, now)
      return { status, silentMs: now - changedAt, lived, born }
    })
    const rank = (peer: Peer) => (peer.lived ? 0 : 1)
    return seen
      .filter(({ status }) => status.role === role)
      .sort((a, b) => rank(a) - rank(b) || a.silentMs - b.silentMs)
  }

  #see({ name, boot, beat }: RoleStatus, now: number): Sight {
    const before = this.#sights.get(name)
    if (before && before.boot === boot && before.beat === beat) return before
    const born = before?.boot === boot ? before.born : true
    const sight = { boot, beat, changedAt: now, lived: true, born }
    this.#sights.set(name, sight)
    return sight
  }

  async #others(): Promise<RoleStatus[]> {
    return (await this.#store.read()).filter(({ name }) => name !== this.#self)
  }
}
