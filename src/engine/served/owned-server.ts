import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf, TrinityError } from '../../base/error.js'
import { endProgram } from '../../machine/ground/end.js'
import type { Ground, Passage, Program, Room, RoomWish } from '../../machine/ground/ground.js'
import type { Roster, RosterWorker } from '../../machine/ground/roster.js'
import type { ServerApi } from './server-api.js'
import type { NewApi, ServerSource } from './server-source.js'

const LOOK_MS = 300
const START_MS = 1_800_000
const LEAVE_MS = 10_000
const ERROR_LINES = 12

export interface OwnedSettings {
  readonly title: string
  /** The machines that it may run on, and the room that it wants there. */
  readonly ground: Ground
  readonly wish: Omit<RoomWish, 'programs'>
  /** At the same path on all of them. */
  readonly python: string
  /** What `python -m` would run. */
  readonly module: string
  /** Of a server on that port. */
  readonly args: (port: number) => readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Fixed where somebody must know it; else a free one. */
  readonly port?: number
  readonly log?: (line: string, node: string | undefined) => void
  /** Where it is written down what it does. */
  readonly roster?: Roster
  readonly newApi: NewApi
  readonly startMs?: number
}

/** A server in a process of its own, here or on a node, that ends with this one whatever way this one ends. */
export class OwnedServer implements ServerSource {
  readonly name: string
  onLost?: (why: string) => void
  readonly #settings: OwnedSettings
  #process: Program | undefined
  #room: Room | undefined
  #passage: Passage | undefined
  #seat: RosterWorker | undefined
  #closed = false

  constructor(settings: OwnedSettings, index: number) {
    this.#settings = settings
    this.name = `${settings.title} server ${index}`
  }

  get pid(): number | undefined {
    return this.#process?.pid
  }

  async open(signal: AbortSignal): Promise<ServerApi> {
    const { newApi, startMs = START_MS } = this.#settings
    const { process, port } = await this.#start(signal)
    const api = newApi(`http://127.0.0.1:${port}`)
    const until = performance.now() + startMs
    try {
      for (;;) {
        signal.throwIfAborted()
        if (process.exit) throw this.#died(process)
        if (performance.now() > until) throw this.#late(process, startMs)
        // not ready is the usual answer
        if (
          await api.health({ signal, deadlineMs: 5000 }).then(
            () => true,
            () => false,
          )
        )
          break
        await sleep(LOOK_MS, undefined, { signal })
      }
    } catch (error) {
      process.kill()
      api.close()
      this.#seat?.tell({ state: `did not start: ${messageOf(error)}` })
      throw error
    }
    this.#seat?.tell({ state: 'ready', doing: ['serves'], pid: process.pid ?? null })
    void process.exited.then(() => {
      if (this.#process !== process || this.#closed) return
      this.#seat?.tell({ state: `ended: ${howEnded(process)}` })
      this.onLost?.(howEnded(process))
    })
    return api
  }

  async close(): Promise<void> {
    this.#closed = true
    const process = this.#process
    if (process && !process.exit) await endProgram(process, LEAVE_MS)
    this.#seat?.tell({ state: 'ended' })
    this.#leave()
  }

  /** What is left of one that died. */
  #leave(): void {
    this.#process?.leave()
    this.#process?.kill()
    this.#passage?.close()
    this.#room?.close()
  }

  /** The program, and the port of this machine by which it is reached. */
  async #start(signal: AbortSignal): Promise<{ process: Program; port: number }> {
    const { ground, wish, python, module, args, env, log, roster } = this.#settings
    this.#leave()
    const room = await ground.room({ ...wish, programs: 1 }, signal)
    this.#room = room
    const there = this.#settings.port ?? (await room.freePort())
    const seat = roster?.add(`${wish.group}_${wish.index}`, room.node, room.devices(0))
    this.#seat = seat
    const process = room.start(0, {
      python,
      module: 'trinity_served',
      args: [module, ...args(there)],
      env: { HF_HUB_OFFLINE: '1', TOKENIZERS_PARALLELISM: 'false', PYTHONHASHSEED: '0', ...env },
      log: (line) => {
        log?.(line, room.node)
        seat?.tell({ line })
      },
    })
    this.#process = process
    this.#passage = await room.passage(process, there)
    return { process, port: this.#passage.port }
  }

  #died(process: Program): TrinityError {
    const { error } = process.exit!
    const lines = process.log.last(ERROR_LINES)
    return new TrinityError('engine/server', `${this.name} ${howEnded(process)} before it was ready`, {
      path: this.#settings.python,
      hint: error ? undefined : `its log says why; the last lines are below`,
      cause: lines.length > 0 ? new Error(`its last lines:\n    ${lines.join('\n    ')}`) : error,
    })
  }

  #late(process: Program, ms: number): TrinityError {
    const lines = process.log.last(ERROR_LINES)
    return new TrinityError('engine/server', `${this.name} was not ready within ${ms / 1000} s`, {
      hint: 'large models take long to load: look into its log',
      cause: new Error(`its last lines:\n    ${lines.join('\n    ')}`),
    })
  }
}

function howEnded({ exit }: Program): string {
  if (exit?.lost !== undefined) return exit.lost
  if (exit?.error) return `could not be started (${exit.error.message})`
  return exit?.signal ? `was ended by ${exit.signal}` : `ended with exit code ${exit?.code}`
}
