import { atomsOf } from './pddl/formula.js'
import type { Operator, Schema } from './pddl/schema.js'
import type { Scope } from './pddl/scope.js'
import type { State } from './pddl/state.js'
import { Table } from './pddl/table.js'

/** A possible action and the command for it. */
export interface Choice {
  readonly command: string
  readonly operator: Operator
}

const NONE: readonly Choice[] = []

/**
 * What one action of the game offers in a state. That depends on few facts, which often are the same as before: then so
 * is the answer.
 */
export class Menu {
  readonly #schema: Schema
  readonly #command: (operator: Operator, state: State) => string
  /** Predicates that may change and that matter here. */
  readonly #predicates: readonly number[]
  /** Answers by the facts of the only predicate, where there is at most one fact. */
  readonly #known = new Map<Table, readonly Choice[]>()
  /** The last answer, and the facts that it was for. */
  #choices: readonly Choice[] = NONE
  #tables: readonly Table[] = []

  constructor(
    schema: Schema,
    scope: Scope,
    /** Predicates that actions change. */
    changing: ReadonlySet<string>,
    /** The command depends on them too. */
    isChanging: boolean,
    command: (operator: Operator, state: State) => string,
  ) {
    const used = isChanging ? changing : new Set([...atomsOf(schema.action.precondition)].map((one) => one.predicate))
    this.#schema = schema
    this.#command = command
    this.#predicates = [...used].filter((one) => changing.has(one)).map((one) => scope.predicate(one))
  }

  /** In the order of the commands; where several actions read alike, the first counts. */
  choices(state: State): readonly Choice[] {
    const { length } = this.#predicates
    const only = length === 0 ? Table.empty : state.truth[this.#predicates[0]]
    if (length > 1 || only.rows.length > 1) return this.#unlessLast(state)
    let known = this.#known.get(only)
    if (!known) {
      known = this.#find(state)
      this.#known.set(only, known)
    }
    return known
  }

  #unlessLast(state: State): readonly Choice[] {
    const predicates = this.#predicates
    let at = 0
    while (at < predicates.length && this.#tables[at] === state.truth[predicates[at]]) at++
    if (at < predicates.length) {
      this.#choices = this.#find(state)
      this.#tables = predicates.map((predicate) => state.truth[predicate])
    }
    return this.#choices
  }

  #find(state: State): readonly Choice[] {
    const choices: Choice[] = []
    const command = this.#command
    this.#schema.collect(state.truth, (operator) => {
      choices.push({ command: command(operator, state), operator })
    })
    if (choices.length < 2) return choices.length === 0 ? NONE : choices
    choices.sort((a, b) => (a.command < b.command ? -1 : a.command > b.command ? 1 : 0))
    return choices.filter((one, at) => at === 0 || one.command !== choices[at - 1].command)
  }
}
