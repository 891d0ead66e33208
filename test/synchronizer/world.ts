import type { Clock } from '../../src/synchronizer/clock.js'
import type { RoleStatus } from '../../src/synchronizer/status.js'
import type { StatusStore } from '../../src/synchronizer/status-store.js'

export type Random = () => number

/** Numbers in [0, 1) that a seed fixes. */
export function seeded(seed: number): Random {
  let state = seed + 0x9e3779b9
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

interface Timer {
  at: number
  owner: Mortal | undefined
  act: () => void
}

/** Time that passes only when everybody sleeps, and one board for all. */
export class World {
  readonly statuses = new Map<string, RoleStatus>()
  readonly random: Random
  #timers: Timer[] = []
  #now = 0

  constructor(seed: number) {
    this.random = seeded(seed)
  }

  get now(): number {
    return this.#now
  }

  between(low: number, high: number): number {
    return low + Math.floor(this.random() * (high - low + 1))
  }

  at(time: number, act: () => void, owner?: Mortal): Timer {
    const timer = { at: time, owner, act }
    const place = this.#timers.findIndex((other) => other.at > time)
    this.#timers.splice(place < 0 ? this.#timers.length : place, 0, timer)
    return timer
  }

  drop(timer: Timer): void {
    this.#timers = this.#timers.filter((one) => one !== timer)
  }

  /** Until `done`, until nothing will ever happen, or until the deadline. */
  async run(done: () => boolean, deadline: number): Promise<void> {
    for (;;) {
      // Everything that is no timer happens before the next turn of the event loop.
      await new Promise((resolve) => setImmediate(resolve))
      if (done()) return
      const next = this.#timers[0]
      if (!next || next.at > deadline) return
      this.#timers.shift()
      this.#now = next.at
      if (next.owner?.dead !== true) next.act()
    }
  }
}

/** A process: what it would do next never happens once it is killed. Its clock has an origin of its own. */
export class Mortal {
  dead = false
  readonly clock: Clock
  readonly store: StatusStore

  constructor(world: World) {
    const origin = world.between(-1e9, 1e9)
    const wait = (ms: number) => new Promise<void>((resolve) => void world.at(world.now + ms, resolve, this))
    this.clock = {
      now: () => world.now + origin,
      sleep: (ms, signal) =>
        new Promise((resolve) => {
          if (signal?.aborted) return resolve()
          const end = () => {
            signal?.removeEventListener('abort', end)
            world.drop(timer)
            resolve()
          }
          const timer = world.at(world.now + ms, end, this)
          signal?.addEventListener('abort', end)
        }),
      every: (ms, act) => {
        let over = false
        const again = () => {
          if (over) return
          act()
          world.at(world.now + ms, again, this)
        }
        world.at(world.now + ms, again, this)
        return () => {
          over = true
        }
      },
    }
    this.store = {
      write: async (status) => {
        await wait(world.between(0, 5))
        world.statuses.set(status.name, status)
      },
      read: async () => {
        await wait(world.between(0, 5))
        return [...world.statuses.values()]
      },
    }
  }
}
