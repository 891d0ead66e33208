import { type Atom, type Formula, isVariable } from './formula.js'
import type { Scope } from './scope.js'
import { type Bindings, type Step, search, type Test } from './search.js'
import type { Typed } from './types.js'

/**
 * Turns formulas into steps of a search. Every variable and constant has a slot; variables of quantifiers get slots of
 * their own, so that one array of values serves the whole formula.
 */
export class Compiler {
  readonly #scope: Scope
  /** What the slots hold before the search; −1 for variables. */
  readonly initial: Bindings = []
  /** Which objects a slot may hold. */
  readonly #kinds: Uint8Array[] = []
  readonly #constants = new Map<string, number>()

  constructor(scope: Scope) {
    this.#scope = scope
  }

  /** A slot for a variable. */
  declare({ type }: Typed): number {
    this.#kinds.push(this.#scope.kind(type))
    return this.initial.push(-1) - 1
  }

  /** Ways to satisfy the formula: each finds values for the slots that are wanted, given those that are known. */
  ways(formula: Formula, names: Names, known: readonly number[], wanted: readonly number[] = []): Step[][] {
    const parts: Part[] = []
    const slots = [...wanted, ...this.#flatten(formula, names, parts)]
    const found = new Set([...known, ...parts.flatMap((part) => (part.formula.kind === 'atom' ? slotsIn(part) : []))])
    // An alternative that itself finds values must be tried on its own.
    const open = parts.find((part) => part.formula.kind === 'or' && slotsIn(part).some((slot) => !found.has(slot)))
    if (!open) return [this.#ordered(parts, known, slots)]
    return (open.formula as Extract<Formula, { kind: 'or' }>).parts.map((one) => {
      const own: Part[] = []
      const more = this.#flatten(one, open.names, own)
      return this.#ordered(parts.filter((part) => part !== open).concat(own), known, [...slots, ...more])
    })
  }

  /** A condition on values that are known. */
  test(formula: Formula, names: Names): Test {
    switch (formula.kind) {
      case 'atom': {
        const predicate = this.#scope.predicate(formula.predicate)
        const slots = this.#slots(formula, names)
        return (bind, tables) => tables[predicate].has(slots.map((slot) => bind[slot]))
      }
      case 'equal': {
        const [left, right] = formula.terms.map((term) => this.slot(term, names))
        return (bind) => bind[left] === bind[right]
      }
      case 'not': {
        const test = this.test(formula.of, names)
        return (bind, tables) => !test(bind, tables)
      }
      case 'and': {
        const tests = formula.parts.map((part) => this.test(part, names))
        return (bind, tables) => tests.every((test) => test(bind, tables))
      }
      case 'or': {
        const tests = formula.parts.map((part) => this.test(part, names))
        return (bind, tables) => tests.some((test) => test(bind, tables))
      }
      case 'forall': {
        const none = this.test({ ...formula, kind: 'exists', of: { kind: 'not', of: formula.of } }, names)
        return (bind, tables) => !none(bind, tables)
      }
      case 'exists': {
        const ways = this.ways(formula, names, slotsIn({ formula, names }))
        return (bind, tables) => ways.some((steps) => search(steps, bind, tables, () => true))
      }
    }
  }

  slot(term: string, names: Names): number {
    const own = names.get(term)
    if (own !== undefined) return own
    let slot = this.#constants.get(term)
    if (slot === undefined) {
      slot = this.initial.push(this.#scope.object(term)) - 1
      this.#kinds.push(NOBODY)
      this.#constants.set(term, slot)
    }
    return slot
  }

  /** Adds the parts of a conjunction, those below quantifiers included, and returns the slots of their variables. */
  #flatten(formula: Formula, names: Names, parts: Part[]): number[] {
    if (formula.kind === 'and') return formula.parts.flatMap((part) => this.#flatten(part, names, parts))
    if (formula.kind !== 'exists') {
      parts.push({ formula, names })
      return []
    }
    const own = formula.variables.map((variable) => [variable.name, this.declare(variable)] as const)
    const inner = this.#flatten(formula.of, new Map([...names, ...own]), parts)
    return [...own.map(([, slot]) => slot), ...inner]
  }

  /** Cheap parts first: conditions as soon as they can be decided, then whatever matches the fewest facts. */
  #ordered(parts: readonly Part[], known: readonly number[], wanted: readonly number[]): Step[] {
    const have = new Set(known)
    const steps: Step[] = []
    let left = parts
    const takeOut = (part: Part) => {
      left = left.filter((other) => other !== part)
      return part
    }
    for (;;) {
      const ready = left.find((part) => part.formula.kind !== 'atom' && slotsIn(part).every((slot) => have.has(slot)))
      const atoms = left.filter(({ formula }) => formula.kind === 'atom')
      const slot = wanted.find((one) => !have.has(one))
      if (ready) {
        const { formula, names } = takeOut(ready)
        steps.push({ kind: 'test', test: this.test(formula, names) })
      } else if (atoms.length > 0) {
        const { formula, names } = takeOut(least(atoms, (part) => this.#size(part, have)))
        steps.push(this.#match(formula as Atom, names, have))
      } else if (slot !== undefined) {
        have.add(slot)
        steps.push({ kind: 'any', slot, objects: objectsOf(this.#kinds[slot]) })
      } else return steps
    }
  }

  #match(atom: Atom, names: Names, have: Set<number>): Step {
    const terms = this.#slots(atom, names)
    const predicate = this.#scope.predicate(atom.predicate)
    const key = this.#key(predicate, terms, have)
    const fresh = terms.map((slot) => {
      if (this.#isKnown(slot, have)) return undefined
      have.add(slot)
      return this.#kinds[slot]
    })
    return { kind: 'match', predicate, terms, key, fresh }
  }

  /** About how many facts match, going by the start. */
  #size({ formula, names }: Part, have: ReadonlySet<number>): number {
    const atom = formula as Atom
    const terms = this.#slots(atom, names)
    if (terms.every((slot) => this.#isKnown(slot, have))) return -1
    const predicate = this.#scope.predicate(atom.predicate)
    const key = this.#key(predicate, terms, have)
    const table = this.#scope.start[predicate]
    return table.rows.length / (key < 0 ? 1 : table.variety(key))
  }

  /** The known place that leaves the fewest rows. */
  #key(predicate: number, terms: readonly number[], have: ReadonlySet<number>): number {
    const places = terms.flatMap((slot, place) => (this.#isKnown(slot, have) ? [place] : []))
    if (places.length === 0) return -1
    return least(places, (place) => -this.#scope.start[predicate].variety(place))
  }

  #slots({ terms }: Atom, names: Names): number[] {
    return terms.map((term) => this.slot(term, names))
  }

  /** Constants always are. */
  #isKnown(slot: number, have: ReadonlySet<number>): boolean {
    return have.has(slot) || this.#kinds[slot] === NOBODY
  }
}

/** Slots of variables, by name. */
export type Names = ReadonlyMap<string, number>

interface Part {
  readonly formula: Formula
  readonly names: Names
}

const NOBODY = new Uint8Array()

/** Slots of the variables that are free in a formula. */
function slotsIn({ formula, names }: Part): number[] {
  return [...freeIn(formula)].flatMap((name) => names.get(name) ?? [])
}

function objectsOf(kind: Uint8Array): number[] {
  return [...kind].flatMap((is, object) => (is === 1 ? [object] : []))
}

function least<T>(from: readonly T[], by: (one: T) => number): T {
  return from.reduce((best, one) => (by(one) < by(best) ? one : best))
}

function freeIn(formula: Formula): Set<string> {
  switch (formula.kind) {
    case 'atom':
    case 'equal':
      return new Set(formula.terms.filter(isVariable))
    case 'not':
      return freeIn(formula.of)
    case 'and':
    case 'or':
      return new Set(formula.parts.flatMap((part) => [...freeIn(part)]))
    default: {
      const own = new Set(formula.variables.map(({ name }) => name))
      return new Set([...freeIn(formula.of)].filter((name) => !own.has(name)))
    }
  }
}
