import { Compiler, type Names } from './compile.js'
import type { Action, Effect } from './domain.js'
import { type Atom, type Formula, TRUE } from './formula.js'
import type { Scope } from './scope.js'
import { type Bindings, type Step, search, type Tables, type Test } from './search.js'
import { type Change, changed, type State } from './state.js'

/** Objects for the parameters of an action. */
export type Values = readonly number[]

/** An action of the domain in one problem. */
export class Schema {
  readonly action: Action
  readonly #scope: Scope
  readonly #arity: number
  readonly #ways: readonly Step[][]
  /** What is made, then what is taken back. */
  readonly #outcomes: readonly Outcome[]
  /** Whatever the values are, something may change. */
  readonly #isEffective: boolean
  readonly #bind: Bindings

  constructor(action: Action, scope: Scope) {
    const compiler = new Compiler(scope)
    const names = new Map(action.parameters.map((one) => [one.name, compiler.declare(one)]))
    const literal = ({ predicate, terms }: Pick<Atom, 'predicate' | 'terms'>, all: Names, makes: boolean): Literal => ({
      predicate: scope.predicate(predicate),
      slots: terms.map((term) => compiler.slot(term, all)),
      makes,
    })
    const outcome = (effect: Effect): Omit<Outcome, 'undone'> => {
      const own = effect.variables.map((one) => [one.name, compiler.declare(one)] as const)
      const all = new Map([...names, ...own])
      const ways = compiler.ways(
        TRUE,
        all,
        [...names.values()],
        own.map(([, slot]) => slot),
      )
      return {
        ...literal(effect, all, effect.makes),
        ways,
        condition: effect.condition && compiler.test(effect.condition, all),
      }
    }
    this.action = action
    this.#scope = scope
    this.#arity = names.size
    this.#ways = compiler.ways(action.precondition, names, [], [...names.values()])
    const before = [...literalsOf(action.precondition)].map(({ atom, holds }) => literal(atom, names, holds))
    const outcomes = action.effects.map(outcome)
    const made = outcomes.filter(({ makes }) => makes)
    const takenBack = outcomes.filter(({ makes }) => !makes)
    const undone = ({ predicate, makes }: Literal) => [
      ...before.filter((one) => one.makes === makes && one.predicate === predicate),
      ...made.filter((one) => !makes && !one.condition && one.predicate === predicate),
    ]
    this.#outcomes = [...made, ...takenBack].map((one) => ({ ...one, undone: undone(one) }))
    this.#isEffective = this.#outcomes.some((one) => one.undone.length === 0)
    this.#bind = [...compiler.initial]
  }

  /**
   * Calls `take` with all values for which the action is possible, some perhaps twice, until it returns true. They are only
   * good during the call, and may be followed by more. What changes nothing for sure is not possible.
   */
  search(tables: Tables, take: (values: Values) => boolean): void {
    const found = (bind: Bindings) =>
      (this.#isEffective || this.#outcomes.some((one) => isNew(one, bind))) && take(bind)
    for (const steps of this.#ways) if (search(steps, this.#bind, tables, found)) return
  }

  apply(values: Values, state: State): State {
    const bind = this.#bind
    for (let slot = 0; slot < this.#arity; slot++) bind[slot] = values[slot]
    const changes: Change[] = []
    for (const outcome of this.#outcomes) {
      const take = () => {
        if (!isNew(outcome, bind)) return false
        const { predicate, slots, makes, condition } = outcome
        const happens = condition?.(bind, state.truth) ?? true
        changes.push({ predicate, row: slots.map((slot) => bind[slot]), makes, happens })
        return false
      }
      for (const steps of outcome.ways) search(steps, bind, state.truth, take)
    }
    return changed(state, changes, this.#scope)
  }
}

/** The precondition does not say that it is so already, nor does the action itself make what it takes back. */
function isNew({ undone, slots }: Outcome, bind: Bindings): boolean {
  return !undone.some((other) => other.slots.every((slot, at) => bind[slot] === bind[slots[at]]))
}

interface Literal {
  readonly predicate: number
  readonly slots: readonly number[]
  readonly makes: boolean
}

interface Outcome extends Literal {
  /** How the effect's own variables get their values. */
  readonly ways: readonly Step[][]
  readonly condition?: Test
  /** With the same values, each of these leaves it without effect. */
  readonly undone: readonly Literal[]
}

/** Atoms that a condition requires, or forbids, in any case. */
function* literalsOf(formula: Formula): Generator<{ atom: Atom; holds: boolean }> {
  if (formula.kind === 'and') for (const part of formula.parts) yield* literalsOf(part)
  else if (formula.kind === 'atom') yield { atom: formula, holds: true }
  else if (formula.kind === 'not' && formula.of.kind === 'atom') yield { atom: formula.of, holds: false }
}
