import { TrinityError } from '../../base/error.js'
import type { Environment, EpisodeSpec, Start, Transition } from '../environment.js'
import { Expert } from './expert/expert.js'
import type { Game } from './game.js'
import { gameOf } from './library.js'
import type { State } from './pddl/state.js'
import type { WordingName } from './wording.js'

/** What the game answers to what it does not understand, or what is not possible now. */
export const NOTHING_HAPPENS = 'Nothing happens.'

/** A state, with what can be done in it once that was asked for. */
interface Situation {
  readonly game: Game
  readonly state: State
  admissible?: readonly string[]
}

/** How the games are told and valued. */
export interface AlfWorldOptions {
  readonly wording?: WordingName
  /** Where relative paths of games start. */
  readonly folder?: string
  /** What an episode is worth that does not reach the goal. */
  readonly failure?: number
}

/**
 * ALFWorld: housework by text commands, in the games of ALFRED's houses.
 * @example
 * import { AlfWorld } from 'trinity-rft'
 *
 * export async function demonstrate(game_file: string): Promise<void> {
 *   const world = new AlfWorld()
 *   console.log((await world.reset({ row: { game_file }, seed: 0 })).observation)
 *   for (let next = world.expert(); next !== undefined; next = world.expert()) {
 *     console.log(`> ${next}\n${world.step(next).observation}`)
 *   }
 * }
 */
export class AlfWorld implements Environment {
  readonly #wording: WordingName
  readonly #folder: string | undefined
  readonly #failure: number
  #now: Situation | undefined

  constructor({ wording = 'file', folder, failure = 0 }: AlfWorldOptions = {}) {
    this.#wording = wording
    this.#folder = folder
    this.#failure = failure
  }

  async reset(episode: EpisodeSpec): Promise<Start> {
    const game = await gameOf(episode, this.#wording, this.#folder)
    this.#now = { game, state: game.start }
    return { observation: game.intro(game.start), goal: goalIn(game.task) }
  }

  /** 1 when the goal is reached, which ends the episode. */
  step(action: string): Transition {
    const { game, state } = this.#situation
    const taken = game.step(action.trim(), state)
    if (taken) this.#now = { game, state: taken.state }
    const won = taken !== undefined && game.isWon(taken.state)
    return {
      observation: taken?.feedback ?? NOTHING_HAPPENS,
      reward: won ? 1 : 0,
      done: won,
      score: won ? 1 : this.#failure,
      won,
      metrics: { valid_action: taken ? 1 : 0 },
    }
  }

  admissible(): readonly string[] {
    const now = this.#situation
    now.admissible ??= merged(now.game.commands(now.state))
    return now.admissible
  }

  /** Nothing in a situation is ever changed: it is its own snapshot. */
  snapshot(): unknown {
    return this.#situation
  }

  restore(snapshot: unknown): void {
    this.#now = snapshot as Situation
  }

  /** The goal is reached. */
  get isWon(): boolean {
    const { game, state } = this.#situation
    return game.isWon(state)
  }

  /** The next command on a short way to the goal, from wherever the episode stands; undefined where there is none. */
  expert(): string | undefined {
    const { game, state } = this.#situation
    return new Expert(game).next(state)
  }

  /** The way to the goal that came with the game, from its start. */
  get walkthrough(): readonly string[] | undefined {
    return this.#situation.game.walkthrough
  }

  get #situation(): Situation {
    if (this.#now) return this.#now
    throw new TrinityError('environment/order', 'ALFWorld is asked before it is reset', { hint: 'call reset first' })
  }
}

/** What comes after `Your task is to:`, or all of it. */
export function goalIn(task: string): string {
  return (/your task is to:\s*(.*)/i.exec(task)?.[1] ?? task).trim()
}

/** One list of several that are in order. Mostly one ends before another begins; then there is nothing to sort. */
function merged(lists: readonly (readonly string[])[]): string[] {
  const commands: string[] = []
  let isApart = true
  for (const list of [...lists].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (commands.length > 0 && commands[commands.length - 1] >= list[0]) isApart = false
    for (const command of list) commands.push(command)
  }
  return isApart ? commands : [...new Set(commands)].sort()
}
