import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { messageOf } from '../../base/error.js'
import { LogRing } from '../../base/log/log-ring.js'
import { tokenCheck } from '../../base/secret/token-check.js'
import type { Ground, Program } from '../../machine/ground/ground.js'
import type { Roster, RosterWorker } from '../../machine/ground/roster.js'
import type { Exit } from '../../machine/owned-process.js'
import type { PythonProcess } from '../../machine/python/process.js'
import { firstLine } from '../../machine/ray/first-line.js'
import { openPassage } from '../../machine/ray/passage.js'

/** What is needed of the process of a worker, wherever it runs. */
export type WorldProcess = Pick<
  PythonProcess,
  'log' | 'exited' | 'exit' | 'pid' | 'input' | 'output' | 'keepsAlive' | 'leave' | 'kill'
>

/** Machines for workers. */
export interface WorldPlace {
  readonly ground: Ground
  /** Where it is written down what they do. */
  readonly roster?: Roster
  /** Variables of the workers, besides those that they find there. */
  readonly env?: Readonly<Record<string, string>>
}

export interface PlacedSettings {
  readonly place: WorldPlace
  readonly python: string
  readonly env: Readonly<Record<string, string>>
  readonly log?: (line: string) => void
}

/** Numbers of the workers that a ground has now. */
const numbers = new WeakMap<Ground, Set<number>>()

/** A worker on whatever node it is placed. It calls back at a port of this machine, and shows its token there. */
export class PlacedProcess implements WorldProcess {
  readonly log: LogRing
  readonly input = new PassThrough()
  readonly output = new PassThrough()
  readonly exited: Promise<Exit>
  exit: Exit | undefined
  readonly #token = randomBytes(32).toString('hex')
  readonly #gone = new AbortController()
  #program: Program | undefined
  #seat: RosterWorker | undefined

  constructor(settings: PlacedSettings) {
    this.log = new LogRing(settings.log)
    const failed = (error: unknown): Exit => ({ code: null, signal: null, lost: `was not placed: ${messageOf(error)}` })
    this.exited = this.#run(settings)
      .catch(failed)
      .then((exit) => {
        this.exit = exit
        return exit
      })
  }

  get pid(): number | undefined {
    return this.#program?.pid
  }

  /** Whoever waits for an answer has a timer that does. */
  keepsAlive(): void {}

  leave(): void {
    this.#gone.abort()
    this.#program?.leave()
  }

  kill(): void {
    this.#gone.abort()
    this.#program?.kill()
  }

  async #run({ place: { ground, roster, env: shared }, python, env }: PlacedSettings): Promise<Exit> {
    const number = takeNumber(ground)
    const door = await openPassage((socket) => void this.#admit(socket))
    try {
      const name = 'environment'
      const wish = { group: name, of: 1, index: number, programs: 1, gpu: false, spread: true }
      const room = await ground.room(wish, this.#gone.signal)
      this.#seat = roster?.add(`${name}_${number}`, room.node)
      this.#program = room.start(0, {
        python,
        module: 'trinity_world',
        env: { ...shared, ...env, TRINITY_WORLD_TOKEN: this.#token },
        reaches: { variable: 'TRINITY_WORLD_CONNECT', port: door.port },
        log: (line) => {
          this.log.push(`${line}\n`)
          this.#seat?.tell({ line })
        },
      })
      const exit = await this.#program.exited
      this.#seat?.tell({ state: 'ended' })
      room.close()
      return exit
    } finally {
      door.close()
      numbers.get(ground)?.delete(number)
    }
  }

  async #admit(socket: Socket): Promise<void> {
    const { token } = (await firstLine(socket)) ?? {}
    if (!tokenCheck(this.#token)(token)) return void socket.destroy()
    this.#seat?.tell({ state: 'ready', doing: ['plays'], pid: this.pid ?? null })
    socket.unref()
    this.input.pipe(socket)
    socket.pipe(this.output)
  }
}

function takeNumber(ground: Ground): number {
  const taken = numbers.get(ground) ?? new Set<number>()
  numbers.set(ground, taken)
  let number = 0
  while (taken.has(number)) number++
  taken.add(number)
  return number
}
