import { atomsOf } from './pddl/formula.js'
import type { Schema, Values } from './pddl/schema.js'
import type { Scope } from './pddl/scope.js'
import type { State } from './pddl/state.js'
import { Table } from './pddl/table.js'

/** The command for an action with these values. */
export type CommandOf = (values: Values, state: State) => string

const NONE: readonly string[] = []

/**
 * The commands of one action of the game. What is possible depends on few facts, which often are the same as before: then
 * so is the answer.
 */
export class Menu {
  readonly schema: Schema
  readonly #commandOf: CommandOf
  /** Predicates that may change and that matter here. */
  readonly #predicates: readonly number[]
  /** Answers by the facts of the only predicate, where there is at most one fact. */
  readonly #known = new Map<Table, readonly string[]>()
  /** The last answer, and the facts that it was for. */
  #commands = NONE
  #tables: readonly (Table | undefined)[] = []

  constructor(
    schema: Schema,
    scope: Scope,
    /** Predicates that actions change. */
    changing: ReadonlySet<string>,
    /** The command depends on them too. */
    isChanging: boolean,
    commandOf: CommandOf,
  ) {
    const used = isChanging ? changing : new Set([...atomsOf(schema.action.precondition)].map((one) => one.predicate))
    this.schema = schema
    this.#commandOf = commandOf
    this.#predicates = [...used].filter((one) => changing.has(one)).map((one) => scope.predicate(one))
  }

  /** In order, each once. */
  commands(state: State): readonly string[] {
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

  /** The first values that are wanted, of those that are possible. */
  values(state: State, isWanted: (values: Values, command: string) => boolean): Values | undefined {
    let found: Values | undefined
    this.schema.search(state.truth, (values) => {
      if (!isWanted(values, this.#commandOf(values, state))) return false
      found = [...values]
      return true
    })
    return found
  }

  #unlessLast(state: State): readonly string[] {
    const predicates = this.#predicates
    let at = 0
    while (at < predicates.length && this.#tables[at] === state.truth[predicates[at]]) at++
    if (at < predicates.length) {
      this.#commands = this.#find(state)
      this.#tables = predicates.map((predicate) => state.truth[predicate])
    }
    return this.#commands
  }

  #find(state: State): readonly string[] {
    const commands: string[] = []
    const commandOf = this.#commandOf
    this.schema.search(state.truth, (values) => {
      commands.push(commandOf(values, state))
      return false
    })
    if (commands.length < 2) return commands.length === 0 ? NONE : commands
    commands.sort()
    return commands.filter((one, at) => at === 0 || one !== commands[at - 1])
  }
}
