import { TrinityError } from '../../base/error.js'
import type { Environment, EpisodeSpec, Start, Transition } from '../environment.js'
import { Expert } from './expert/expert.js'
import type { Game } from './game.js'
import { gameOf } from './library.js'
import type { Choice } from './menu.js'
import type { State } from './pddl/state.js'
import type { WordingName } from './wording.js'

/** What the game answers to what it does not understand, or what is not possible now. */
export const NOTHING_HAPPENS = 'Nothing happens.'

/** A state, with what can be done in it once that was asked for. */
interface Situation {
  readonly game: Game
  readonly state: State
  choices?: readonly (readonly Choice[])[]
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
    const command = action.trim()
    const choice = find(this.#choices(), command)
    if (!choice) {
      const score = this.#failure
      return { observation: NOTHING_HAPPENS, reward: 0, done: false, score, metrics: { valid_action: 0 } }
    }
    const after = game.apply(choice.operator, state)
    this.#now = { game, state: after }
    const won = game.isWon(after)
    const score = won ? 1 : this.#failure
    const observation = game.feedback(choice.operator, after)
    return { observation, reward: won ? 1 : 0, done: won, score, won, metrics: { valid_action: 1 } }
  }

  admissible(): readonly string[] {
    const now = this.#situation
    now.admissible ??= sorted(this.#choices())
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
    return new Expert(game).next(state, this.#choices().flat())
  }

  /** The way to the goal that came with the game, from its start. */
  get walkthrough(): readonly string[] | undefined {
    return this.#situation.game.walkthrough
  }

  #choices(): readonly (readonly Choice[])[] {
    const now = this.#situation
    now.choices ??= now.game.choices(now.state)
    return now.choices
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

function find(choices: readonly (readonly Choice[])[], command: string): Choice | undefined {
  for (const some of choices) for (const choice of some) if (choice.command === command) return choice
  return undefined
}

/** Each list is in order already. Mostly one ends before another begins; then there is nothing to sort. */
function sorted(choices: readonly (readonly Choice[])[]): string[] {
  const lists = [...choices].sort(([a], [b]) => (a.command < b.command ? -1 : 1))
  const commands: string[] = []
  let isApart = true
  for (const some of lists) {
    if (commands.length > 0 && commands[commands.length - 1] >= some[0].command) isApart = false
    for (const { command } of some) commands.push(command)
  }
  return isApart ? commands : [...new Set(commands)].sort()
}
