import type { z } from 'zod'
import type { JsonObject } from '../../base/file/json-file.js'
import type { Environment, EnvironmentContext, EpisodeSpec, Start, Transition } from '../environment.js'
import { readRow } from '../row.js'
import type { PythonArgs } from './args.js'
import { interpreterFor } from './interpreter.js'
import { poolOf, type WorkerPool } from './pool.js'
import type { WorldWorker } from './worker.js'

/** What a worker opens: a kind of trinity_world, and what that kind reads. */
export interface WorldSpec {
  readonly kind: 'gymnasium' | 'reasoning_gym' | 'verifiers'
  /** As it reads in errors. */
  readonly name: string
  readonly spec: JsonObject
  /** Columns of the row that the kind reads. */
  readonly columns: z.ZodObject
}

/** Packages are imported and models loaded when the first world is opened. */
const OPEN_MS = 300_000

/** A world in a worker. When the worker dies, the episode is lost and the next begins in another. */
export class PythonWorld implements Environment {
  readonly #world: WorldSpec
  readonly #timeoutMs: number
  readonly #pool: WorkerPool
  #worker: WorldWorker | undefined
  #slot = 0
  #actions: readonly string[] | undefined
  #admissible: readonly string[] | undefined

  private constructor(world: WorldSpec, timeoutMs: number, pool: WorkerPool) {
    this.#world = world
    this.#timeoutMs = timeoutMs
    this.#pool = pool
  }

  static async open(world: WorldSpec, args: PythonArgs, { logger, place }: EnvironmentContext): Promise<PythonWorld> {
    const python = await interpreterFor(world.kind, args.python)
    const log = (line: string) => logger?.debug(`Python: ${line}`)
    const pool = poolOf(args.workers, { python, log, place: await place?.() })
    const opened = new PythonWorld(world, args.timeout * 1000, pool)
    await opened.#open()
    return opened
  }

  async reset(episode: EpisodeSpec): Promise<Start> {
    const { observation, goal } = await this.begin(episode)
    return { observation: String(observation), ...(typeof goal === 'string' && { goal }) }
  }

  /** All that the worker says of the beginning of an episode. */
  async begin({ row, seed }: EpisodeSpec): Promise<JsonObject> {
    const { name, columns } = this.#world
    const read = readRow(name, columns, row)
    if (!this.#worker?.isAlive) await this.#open()
    const answer = await this.#call('reset', { row: read, seed })
    this.#see(answer)
    return answer
  }

  async step(action: string): Promise<Transition> {
    // halves of characters, as a cut reply may end with, are no text in Python
    const answer = await this.#call('step', action.replace(/\p{Cs}/gu, '\uFFFD'))
    this.#see(answer)
    const { observation, reward, done, won, score, metrics } = answer
    return {
      observation: String(observation),
      reward: Number(reward),
      done: done === true,
      ...(won === true && { won }),
      ...(score !== undefined && { score: Number(score) }),
      ...(metrics !== undefined && { metrics: metrics as Record<string, number> }),
    }
  }

  admissible(): readonly string[] | undefined {
    return this.#admissible
  }

  /** Not waited for: it comes after a call that may hang. */
  close(): void {
    const worker = this.#worker
    if (!worker?.isAlive) return
    this.#call('close', null).catch(() => {})
    worker.freeSlot(this.#slot)
  }

  async #open(): Promise<void> {
    this.#worker = this.#pool.worker()
    this.#slot = this.#worker.takeSlot()
    const { kind, spec } = this.#world
    try {
      const { actions } = await this.#call('open', { kind, spec })
      this.#actions = Array.isArray(actions) ? actions.map(String) : undefined
    } catch (error) {
      this.#worker.freeSlot(this.#slot)
      this.#worker = undefined
      throw error
    }
  }

  #call(op: 'open' | 'reset' | 'step' | 'close', given: unknown): Promise<JsonObject> {
    const what = `${this.#world.name}: ${op}`
    const timeoutMs = op === 'open' ? Math.max(OPEN_MS, this.#timeoutMs) : this.#timeoutMs
    return (this.#worker as WorldWorker).call({ op, slot: this.#slot, given, what, timeoutMs })
  }

  #see({ admissible }: JsonObject): void {
    const { length } = this.#actions ?? []
    const open = Array.isArray(admissible) ? admissible.filter((n) => n < length) : undefined
    this.#admissible = open ? open.map((n) => (this.#actions as readonly string[])[n]) : this.#actions
  }
}
