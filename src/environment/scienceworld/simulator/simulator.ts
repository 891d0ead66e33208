import { setTimeout as sleep } from 'node:timers/promises'
import { TrinityError } from '../../../base/error.js'
import type { OwnedProcess } from '../../../machine/owned-process.js'
import { type Command, call, construct } from '../py4j/command.js'
import { Gateway } from '../py4j/gateway.js'
import { JavaReference, type JavaValue } from '../py4j/value.js'
import type { Setting } from './game.js'
import { Globals, type OwnGlobals } from './globals.js'
import { connectTo, deathOf, type JavaSettings, startJava } from './java.js'
import { shut, silence } from './prepare.js'

export interface SimulatorSettings extends JavaSettings {
  /** How long one call may take. */
  readonly timeoutMs: number
}

/** A place for one game after another. */
export interface Seat extends OwnGlobals {
  readonly api: JavaReference
}

const API = 'scienceworld.runtime.pythonapi.PythonInterface'
/** A process whose connection is lost has mostly ended, and its last lines come by another way. */
const EXIT_MS = 1000
const LOG_MS = 50

/** One Java process, in which many games take turns. */
export class Simulator {
  readonly #java: OwnedProcess
  readonly #gateway: Gateway
  readonly #globals: Globals
  readonly #freeSeats: Seat[] = []
  /** All tasks with all their things, of which every seat would keep its own: 11 MB. */
  #catalog: JavaReference | undefined
  /** Seats are made one by one, for the same reason. */
  #making: Promise<unknown> = Promise.resolve()
  #tasks: readonly string[] = []

  private constructor(java: OwnedProcess, gateway: Gateway, globals: Globals) {
    this.#java = java
    this.#gateway = gateway
    this.#globals = globals
  }

  static async start(settings: SimulatorSettings): Promise<Simulator> {
    const java = startJava(settings)
    try {
      const gateway = await open(java, settings.timeoutMs)
      const simulator = new Simulator(java, gateway, await Globals.find(gateway))
      await simulator.#look()
      return simulator
    } catch (error) {
      java.kill()
      throw error
    }
  }

  get isAlive(): boolean {
    return this.#gateway.end === undefined
  }

  get pid(): number | undefined {
    return this.#java.pid
  }

  /** The names of all tasks. */
  get tasks(): readonly string[] {
    return this.#tasks
  }

  async takeSeat(): Promise<Seat> {
    const free = this.#freeSeats.pop()
    if (free) return free
    const making = this.#making.then(() => this.#newSeat())
    this.#making = making.catch(() => {})
    return making
  }

  /** A call that is still on its way ends before the next of this seat begins. */
  leaveSeat(seat: Seat): void {
    this.#freeSeats.push(seat)
  }

  /** Called once, when there is no process any more. */
  onEnd(listener: () => void): void {
    this.#gateway.onEnd(listener)
  }

  /** Calls of a game, carried out as if it was alone. `what`: as it reads in an error. */
  async play(seat: Seat, what: string, commands: readonly Command[]): Promise<JavaValue[]> {
    const entering = this.#globals.enter(seat)
    const values = await this.#gateway.send(what, [...entering, ...commands, this.#globals.nextId])
    this.#freeAll(values.slice(0, entering.length))
    seat.nextId = values.at(-1) as bigint
    return values.slice(entering.length, -1)
  }

  /** A question about a game, which changes nothing of it. */
  async ask(seat: Seat, what: string, question: Command): Promise<JavaValue> {
    const { before, after } = this.#globals.aside(seat)
    const values = await this.#gateway.send(what, [...before, question, ...after])
    this.#freeAll(values.slice(0, before.length))
    return values[before.length]
  }

  /** Begins a game; `commands` follow when it is loaded. */
  async load(
    seat: Seat,
    { task, variation, simplifications }: Setting,
    commands: readonly Command[],
    { findsGoldPath = false } = {},
  ): Promise<JavaValue[]> {
    const loading = call(seat.api, 'load', task, variation, simplifications, findsGoldPath)
    const playing = this.play(seat, `loading ${task}, variation ${variation}`, [
      loading,
      ...this.#shareCatalog(seat.api),
      call(seat.api, 'getSimplificationsUsed'),
      ...commands,
    ])
    this.#globals.forget()
    const [problem, , used, ...values] = await playing
    if (problem !== '') throw new TrinityError('environment/task', `the simulator cannot load the task: ${problem}`)
    seat.simplifications = String(used)
    return values
  }

  /** The texts of a list that a call gave. */
  texts(what: string, list: JavaReference): Promise<string[]> {
    return this.#gateway.texts(what, list)
  }

  /** Ends the process; games that are still played fail. */
  end(): void {
    this.#gateway.close(new TrinityError('environment/closed', 'a simulator of ScienceWorld was closed'))
  }

  #freeAll(values: readonly JavaValue[]): void {
    for (const value of values) if (value instanceof JavaReference) this.#gateway.free(value)
  }

  #shareCatalog(api: JavaReference): Command[] {
    return [call(api, 'taskMaker_$eq', this.#catalog ?? null)]
  }

  async #look(): Promise<void> {
    const seat = await this.#newSeat()
    const asked = [call(seat.api, 'taskMaker'), call(seat.api, 'getTaskNames')]
    const [catalog, names] = await this.play(seat, 'the names of tasks', asked)
    this.#catalog = catalog as JavaReference
    this.#tasks = await this.texts('the names of tasks', names as JavaReference)
    this.#freeSeats.push(seat)
  }

  /** Making one makes things, for which numbers are drawn. */
  async #newSeat(): Promise<Seat> {
    const [random] = await this.#gateway.send('a seat', [construct('java.util.Random')])
    const making = [...this.#globals.outside(random as JavaReference), construct(API)]
    const api = (await this.#gateway.send('a seat', making)).at(-1) as JavaReference
    if (this.#catalog) await this.#gateway.send('a seat', this.#shareCatalog(api))
    return { api, random: random as JavaReference, nextId: 0n, simplifications: '' }
  }
}

async function open(java: OwnedProcess, timeoutMs: number): Promise<Gateway> {
  const socket = await connectTo(java)
  socket.unref()
  const gateway = new Gateway(socket, {
    timeoutMs,
    onWaiting: (isWaiting) => (isWaiting ? socket.ref() : socket.unref()),
    explain: async (lost) => {
      const known = new AbortController()
      // neither the process nor its connection keeps this process alive: the timer does
      const late = sleep(EXIT_MS, undefined, { signal: known.signal }).catch(() => undefined)
      const exit = await Promise.race([java.exited, late])
      known.abort()
      if (exit) await sleep(LOG_MS)
      return exit ? deathOf(java) : lost
    },
  })
  gateway.onEnd(() => java.kill())
  await silence(gateway)
  await shut(gateway)
  return gateway
}
