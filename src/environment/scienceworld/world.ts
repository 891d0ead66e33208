import { availableParallelism } from 'node:os'
import type { Environment, EnvironmentContext, EpisodeSpec, Start, Transition } from '../environment.js'
import type { ScienceWorldArgs } from './args.js'
import { Earnings } from './earnings.js'
import { checkedJar, findJar } from './simulator/jar.js'
import { poolOf } from './simulator/pool.js'
import { notReset, Session } from './simulator/session.js'
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
  #session: Session | undefined
  #earnings: Earnings
  #isClosed = false

  constructor(args: ScienceWorldArgs, { logger }: EnvironmentContext = {}) {
    this.#args = args
    this.#log = (line) => logger?.debug(`ScienceWorld: ${line}`)
    this.#earnings = new Earnings(args.reward_mode)
  }

  async reset(episode: EpisodeSpec, signal?: AbortSignal): Promise<Start> {
    const asked = askedTask(episode)
    const session = await this.#sessionFor(asked)
    const { simplifications } = this.#args
    const { description, frame } = await session.begin(async (game) => {
      const { task, variation } = settledTask(asked, game.simulator.tasks)
      checkSimplifications(task, simplifications)
      checkVariation(task, variation, await game.variations(task))
      return { task, variation, simplifications }
    }, signal)
    this.#earnings = new Earnings(this.#args.reward_mode)
    this.#earnings.add(frame)
    return { observation: `Task Description: ${description}\n${frame.observation}`, goal: description }
  }

  /** The end is the goal, a mistake that cannot be made good, or the limit of moves. */
  async step(action: string): Promise<Transition> {
    const frame = await this.#begun.step(action)
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
    return this.#args.admissible ? this.#begun.validActions() : undefined
  }

  /** A way from the beginning of the episode to its goal, which the simulator itself knows. It takes seconds. */
  async walkthrough(): Promise<readonly string[]> {
    return this.#begun.goldPath()
  }

  close(): void {
    this.#isClosed = true
    this.#session?.close()
  }

  get #begun(): Session {
    if (this.#session) return this.#session
    throw notReset()
  }

  /** That of the last episode, if it was in the same simulator. */
  async #sessionFor({ jar: row }: AskedTask): Promise<Session> {
    const jar = await checkedJar(findJar({ given: this.#args.jar_path, row }))
    const { heap_mb: heapMb, timeout } = this.#args
    const processes = this.#args.processes ?? Math.min(MOST_PROCESSES, availableParallelism())
    const pool = poolOf({ jar, heapMb, timeoutMs: timeout * 1000, processes, log: this.#log })
    if (this.#session?.pool === pool) return this.#session
    this.#session?.close()
    this.#session = new Session(pool)
    if (this.#isClosed) this.#session.close()
    return this.#session
  }
}
