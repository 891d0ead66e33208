import { randomBytes } from 'node:crypto'
import { type Clock, monotonic } from './clock.js'
import { type Peer, Peers } from './peers.js'
import { type StatusStore, statusFolder } from './status-store.js'

export type RoleState = 'running' | 'wants_experiences' | 'wants_weights' | 'ended' | 'stopped' | 'failed'

/** What one process of a job tells the others. */
export interface RoleStatus {
  readonly role: 'explorer' | 'trainer'
  readonly name: string
  readonly pid: number
  /** Drawn when the process starts: tells it from one of the same name before it. */
  readonly boot: string
  /** Counts what the process has written: while it goes on, the process is alive. */
  readonly beat: number
  readonly state: RoleState
  /** What it waits for, in words. */
  readonly waits_for?: string
  /** How often a trainer that waits has looked at the buffer and found too little. */
  readonly hungry: number
  /** Steps done. */
  readonly step: number
  /** Training step whose weights it has. */
  readonly version: number
  /** When this was written, for people: no process reads it. */
  readonly at: string
  readonly cause?: string
}

type Change = Partial<Pick<RoleStatus, 'state' | 'step' | 'version' | 'cause' | 'waits_for' | 'hungry'>>

/** The process will not go on. */
export function isOver({ state }: Pick<RoleStatus, 'state'>): boolean {
  return state === 'ended' || state === 'stopped' || state === 'failed'
}

/** How often a process that has nothing new to tell shows that it is alive. */
export const BEAT_MS = 1000

export interface BoardOptions extends Pick<RoleStatus, 'role' | 'name'> {
  readonly store: StatusStore | string
  readonly step?: number
  readonly version?: number
  readonly clock?: Clock
}

/** This process's own status, and those of the others in the job. */
export class StatusBoard {
  readonly clock: Clock
  readonly #store: StatusStore
  readonly #peers: Peers
  #own: RoleStatus
  /** Writes come one after the other, so that the last one stays. */
  #writing: Promise<void> = Promise.resolve()
  #stopBeats: (() => void) | undefined

  private constructor(store: StatusStore, peers: Peers, clock: Clock, own: RoleStatus) {
    this.#store = store
    this.#peers = peers
    this.clock = clock
    this.#own = own
  }

  /** `store`: also the job directory. Tells nothing yet: that begins with the first `set`. */
  static async open(options: BoardOptions): Promise<StatusBoard> {
    const { role, name, step = 0, version = 0, clock = monotonic } = options
    const store = typeof options.store === 'string' ? statusFolder(options.store) : options.store
    const boot = randomBytes(8).toString('hex')
    const own = { role, name, pid: process.pid, boot, beat: 0, state: 'running' as const, hungry: 0, step, version }
    return new StatusBoard(store, await Peers.open(store, clock, name), clock, { ...own, at: '' })
  }

  get own(): RoleStatus {
    return this.#own
  }

  /** A change of the state ends what was waited for, unless the change says something else. */
  async set(change: Change): Promise<void> {
    const { waits_for, ...rest } = this.#own
    const kept = change.state === undefined ? { waits_for } : {}
    this.#own = { ...rest, ...kept, ...change }
    if (isOver(this.#own)) this.#quiet()
    else this.#stopBeats ??= this.clock.every(BEAT_MS, () => void this.#write().catch(() => {}))
    await this.#write()
  }

  /** Those of a role; who showed life last comes first. */
  others(role: RoleStatus['role']): Promise<Peer[]> {
    return this.#peers.look(role)
  }

  /** No more signs of life. */
  async close(): Promise<void> {
    this.#quiet()
    await this.#writing.catch(() => {})
  }

  #quiet(): void {
    this.#stopBeats?.()
    this.#stopBeats = undefined
  }

  async #write(): Promise<void> {
    this.#own = { ...this.#own, beat: this.#own.beat + 1, at: new Date().toISOString() }
    const status = this.#own
    this.#writing = this.#writing.catch(() => {}).then(() => this.#store.write(status))
    await this.#writing
  }
}
