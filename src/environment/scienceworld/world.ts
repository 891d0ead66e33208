import { availableParallelism } from 'node:os'
import { TrinityError } from '../../base/error.js'
import type { Environment, EnvironmentContext, EpisodeSpec, Start, Transition } from '../environment.js'
import type { ScienceWorldArgs } from './args.js'
import { Earnings } from './earnings.js'
import type { Game, Setting } from './simulator/game.js'
import { checkedJar, findJar } from './simulator/jar.js'
import { poolOf, type SimulatorPool } from './simulator/pool.js'
import { type AskedTask, askedTask, checkSimplifications, checkVariation, settledTask } from './task.js'

/** More are seldom busy, and each takes half a gigabyte. */
const MOST_PROCESSES = 16
/** What the simulator answers to what it does not understand. */
const REFUSED = /^(?:No known action matches|Unknown action)/

/**
 * ScienceWorld: experiments by text commands, in the real simulator. Made by `openEnvironment('scienceworld')`; a program
 * that wants the simulator's own solution makes it itself, with all arguments.
 */
export class ScienceWorld implements Environment {
  readonly #args: ScienceWorldArgs
  readonly #log: (line: string) => void
  #place: { readonly pool: SimulatorPool; readonly game: Game } | undefined
  #setting: Setting | undefined
  #earnings: Earnings
  #isClosed = false

  constructor(args: ScienceWorldArgs, { logger }: EnvironmentContext = {}) {
    this.#args = args
    this.#log = (line) => logger?.debug(`ScienceWorld: ${line}`)
    this.#earnings = new Earnings(args.reward_mode)
  }

  async reset(episode: EpisodeSpec, signal?: AbortSignal): Promise<Start> {
    const asked = askedTask(episode)
    const game = await this.#gameFor(asked, signal)
    const { task, variation } = settledTask(asked, game.simulator.tasks)
    const { simplifications } = this.#args
    checkSimplifications(task, simplifications)
    checkVariation(task, variation, await game.variations(task))
    this.#setting = { task, variation, simplifications }
    const { description, frame } = await game.load(this.#setting)
    this.#earnings = new Earnings(this.#args.reward_mode)
    this.#earnings.add(frame)
    return { observation: `Task Description: ${description}\n${frame.observation}`, goal: description }
  }

  /** The end is the goal, a mistake that cannot be made good, or the limit of moves. */
  async step(action: string): Promise<Transition> {
    const frame = await this.#game.step(action)
    const { reward, worth, percent } = this.#earnings.add(frame)
    return {
      observation: frame.observation,
      reward,
      done: frame.isCompleted || percent < 0 || frame.moves > this.#args.env_step_limit,
      score: worth,
      won: percent >= 100,
      metrics: { valid_action: REFUSED.test(frame.observation) ? 0 : 1 },
    }
  }

  /** Only when asked for: listing takes longer than a step. */
  async admissible(): Promise<readonly string[] | undefined> {
    return this.#args.admissible ? this.#game.validActions() : undefined
  }

  /** A way from the beginning of the episode to its goal, which the simulator itself knows. It takes seconds. */
  async walkthrough(): Promise<readonly string[]> {
    if (!this.#place || !this.#setting) throw notReset()
    const { pool } = this.#place
    const game = await pool.take()
    try {
      return await game.goldPath(this.#setting)
    } finally {
      pool.release(game)
    }
  }

  /** A call that was cut off may still be on its way; the seat's next game comes after it. */
  close(): void {
    this.#isClosed = true
    this.#leave()
  }

  get #game(): Game {
    if (this.#place) return this.#place.game
    throw notReset()
  }

  /** The seat of the last episode, if it is still there and of the same simulator. */
  async #gameFor({ jar: row }: AskedTask, signal: AbortSignal | undefined): Promise<Game> {
    const jar = await checkedJar(findJar({ given: this.#args.jar_path, row }))
    const { heap_mb: heapMb, timeout } = this.#args
    const processes = this.#args.processes ?? Math.min(MOST_PROCESSES, availableParallelism())
    const pool = poolOf({ jar, heapMb, timeoutMs: timeout * 1000, processes, log: this.#log })
    if (this.#place?.pool === pool && this.#place.game.simulator.isAlive) return this.#place.game
    this.#leave()
    const game = await pool.take(signal)
    this.#place = { pool, game }
    if (this.#isClosed) this.#leave()
    return game
  }

  #leave(): void {
    this.#place?.pool.release(this.#place.game)
    this.#place = undefined
  }
}

function notReset(): TrinityError {
  return new TrinityError('environment/order', 'ScienceWorld is asked before it is reset', { hint: 'call reset first' })
}
