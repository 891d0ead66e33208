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
  #last: { readonly tables: readonly Table[]; readonly choices: readonly Choice[] } | undefined

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
    const [only, ...others] = this.#predicates.map((predicate) => state.truth[predicate])
    if (others.length > 0 || (only?.rows.length ?? 0) > 1) return this.#unlessLast(state)
    const key = only ?? Table.empty
    let known = this.#known.get(key)
    if (!known) {
      known = this.#find(state)
      this.#known.set(key, known)
    }
    return known
  }

  #unlessLast(state: State): readonly Choice[] {
    if (this.#last && this.#predicates.every((predicate, at) => this.#last!.tables[at] === state.truth[predicate])) {
      return this.#last.choices
    }
    const choices = this.#find(state)
    this.#last = { tables: this.#predicates.map((predicate) => state.truth[predicate]), choices }
    return choices
  }

  #find(state: State): readonly Choice[] {
    const operators: Operator[] = []
    this.#schema.collect(state.truth, operators)
    if (operators.length === 0) return NONE
    const choices = operators.map((operator) => ({ command: this.#command(operator, state), operator }))
    choices.sort((a, b) => (a.command < b.command ? -1 : a.command > b.command ? 1 : 0))
    return choices.filter((one, at) => at === 0 || one.command !== choices[at - 1].command)
  }
}

const NONE: readonly Choice[] = []
