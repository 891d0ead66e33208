import { z } from 'zod'
import { Pcg64 } from '../../base/random/index.js'
import type { DataRow } from '../../task/index.js'
import type { Environment, EpisodeSpec, Start, Transition } from '../environment.js'
import { readRow, seedColumn } from '../row.js'
import { type ActionNames, refusal } from '../small-world.js'

/** One of the things that an action may lead to. */
export type Outcome = readonly [probability: number, state: number, reward: number, done: boolean]

/** A world as Gymnasium tells it: numbered states and actions, and what each action may lead to. */
export interface Table {
  /** Probability to begin in each state. */
  readonly start: readonly number[]
  outcomes(state: number, action: number): readonly Outcome[]
  /** Is a state at the end of an episode the one that was wanted? */
  won(state: number): boolean
  picture(state: number): string
  /** Where there is more to draw: after the first state, and after each step from `before`. */
  settle?(state: number, random: Pcg64, before?: number): number
}

const columns = z.object({ seed: seedColumn })

/**
 * Walks over a table, and draws as Gymnasium does: an episode with its seed and its actions is the episode of the
 * package. The seed is the row's `seed`, else the episode's.
 */
export class TableWorld implements Environment {
  readonly #name: string
  readonly #actions: ActionNames
  readonly #tableOf: (row: DataRow, seed: number) => Table
  #now: { table: Table; state: number; random: Pcg64 } | undefined

  constructor(name: string, actions: ActionNames, tableOf: (row: DataRow, seed: number) => Table) {
    this.#name = name
    this.#actions = actions
    this.#tableOf = tableOf
  }

  reset({ row, seed: given }: EpisodeSpec): Start {
    const { seed = given } = readRow(this.#name, columns, row)
    const table = this.#tableOf(row, seed)
    const random = new Pcg64(seed)
    const first = sample(table.start, random)
    const state = table.settle?.(first, random) ?? first
    this.#now = { table, state, random }
    return { observation: table.picture(state) }
  }

  step(action: string): Transition {
    const { table, state: before, random } = this.#now!
    const number = this.#actions.numberOf(action)
    if (number === undefined) return refusal(table.picture(before))
    const outcomes = table.outcomes(before, number)
    const chosen = sample(
      outcomes.map(([probability]) => probability),
      random,
    )
    const [, next, reward, done] = outcomes[chosen]
    const state = table.settle?.(next, random, before) ?? next
    this.#now = { table, state, random }
    const won = done && table.won(state)
    return { observation: table.picture(state), reward, done, won, metrics: { valid_action: 1 } }
  }

  admissible(): readonly string[] {
    return this.#actions.names
  }

  snapshot() {
    return { ...this.#now!, random: this.#now!.random.copy() }
  }

  restore(snapshot: unknown): void {
    const { table, state, random } = snapshot as ReturnType<TableWorld['snapshot']>
    this.#now = { table, state, random: random.copy() }
  }
}

/** Gymnasium's `categorical_sample`: the first place where the sum of the probabilities exceeds a random number. */
export function sample(probabilities: readonly number[], random: Pcg64): number {
  const drawn = random.random()
  let sum = 0
  const place = probabilities.findIndex((probability) => {
    sum += probability
    return sum > drawn
  })
  return Math.max(place, 0)
}
