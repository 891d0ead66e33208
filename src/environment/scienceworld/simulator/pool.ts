import { Game } from './game.js'
import { Simulator, type SimulatorSettings } from './simulator.js'

export interface PoolSettings extends SimulatorSettings {
  /** The most processes at the same time. */
  readonly processes: number
  /** How long a process without games is kept. */
  readonly idleMs?: number
}

interface Member {
  readonly starting: Promise<Simulator>
  /** Games that are played there, and those that wait for its start. */
  games: number
  idle?: NodeJS.Timeout
}

/** Somebody who waits for a seat. Undefined: look again. */
type Waiting = (member: Member | undefined) => void

const IDLE_MS = 600_000
/** Memory of a process itself and while it loads a task, and of one game in the middle of it. */
const BASE_MB = 128
const GAME_MB = 1.5

/**
 * As many simulators as allowed, started when they are needed. Each plays as many games as its memory holds; who comes
 * then waits until one ends. A simulator that died is replaced when the next game begins.
 */
export class SimulatorPool {
  readonly #settings: PoolSettings
  readonly #seats: number
  #members: Member[] = []
  readonly #waiting: Waiting[] = []
  readonly #home = new Map<Game, Member>()

  constructor(settings: PoolSettings) {
    this.#settings = settings
    this.#seats = Math.max(1, Math.floor((settings.heapMb - BASE_MB) / GAME_MB))
  }

  /** A place to play. The signal ends the wait for one. */
  async take(signal?: AbortSignal): Promise<Game> {
    const member = await this.#place(signal)
    try {
      const simulator = await member.starting
      const game = new Game(simulator, await simulator.takeSeat())
      this.#home.set(game, member)
      return game
    } catch (error) {
      this.#leave(member)
      throw error
    }
  }

  /** The place is free for the next. */
  release(game: Game): void {
    const member = this.#home.get(game)
    if (!member) return
    this.#home.delete(game)
    game.leave()
    this.#leave(member)
  }

  /** A member with a game more. */
  async #place(signal: AbortSignal | undefined): Promise<Member> {
    for (;;) {
      signal?.throwIfAborted()
      const [first] = [...this.#members].sort((a, b) => a.games - b.games)
      if (first && first.games < (this.#members.length < this.#settings.processes ? 1 : this.#seats))
        return enter(first)
      if (this.#members.length < this.#settings.processes) return enter(this.#start())
      const given = await this.#wait(signal)
      if (given) return given
    }
  }

  #wait(signal: AbortSignal | undefined): Promise<Member | undefined> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = (member) => {
        signal?.removeEventListener('abort', stop)
        resolve(member)
      }
      const stop = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', stop, { once: true })
      this.#waiting.push(waiting)
    })
  }

  #start(): Member {
    const starting = Simulator.start(this.#settings)
    const member: Member = { starting, games: 0 }
    this.#members.push(member)
    const end = () => this.#drop(member)
    starting.then((simulator) => simulator.onEnd(end), end)
    return member
  }

  /** Whoever waits gets the place, otherwise it stays free; a simulator without games is kept for a while. */
  #leave(member: Member): void {
    const next = this.#members.includes(member) ? this.#waiting.shift() : undefined
    if (next) {
      next(member)
      return
    }
    member.games--
    if (member.games > 0) return
    const end = () => member.starting.then((simulator) => simulator.end()).catch(() => {})
    member.idle = setTimeout(end, this.#settings.idleMs ?? IDLE_MS).unref()
  }

  #drop(member: Member): void {
    clearTimeout(member.idle)
    this.#members = this.#members.filter((one) => one !== member)
    for (const waiting of this.#waiting.splice(0)) waiting(undefined)
  }
}

function enter(member: Member): Member {
  clearTimeout(member.idle)
  member.games++
  return member
}

const pools = new Map<string, SimulatorPool>()

/** All worlds that ask for the same share one. */
export function poolOf(settings: PoolSettings): SimulatorPool {
  const { jar, heapMb, timeoutMs, processes } = settings
  const key = JSON.stringify([jar, heapMb, timeoutMs, processes])
  const pool = pools.get(key) ?? new SimulatorPool(settings)
  pools.set(key, pool)
  return pool
}
