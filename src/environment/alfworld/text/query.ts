import type { Table } from '../pddl/table.js'
import type { QueryAtom } from './symbols.js'

/** Numbers for the placeholders in texts. A placeholder is a name and a type. */
export class Placeholders {
  readonly #numbers = new Map<string, number>()
  readonly #named = new Map<string, number[]>()
  /** Of each placeholder. */
  readonly types: string[] = []

  number(name: string, type: string): number {
    const key = `${name}:${type}`
    let known = this.#numbers.get(key)
    if (known === undefined) {
      known = this.#numbers.size
      this.#numbers.set(key, known)
      this.types.push(type)
      this.named(name).push(known)
    }
    return known
  }

  /** Those with this name, more of them as more texts are read. */
  named(name: string): number[] {
    let known = this.#named.get(name)
    if (!known) {
      known = []
      this.#named.set(name, known)
    }
    return known
  }
}

/** Objects by placeholder. Questions fill in what they find and take it out again. */
export type Context = (number | undefined)[]

/** What questions are asked about. */
export interface Facts {
  readonly told: readonly Table[]
  /** 1 for each object that may stand for a placeholder. */
  kind(placeholder: number): Uint8Array
}

/** A question about the facts: which objects fit? Different placeholders stand for different objects. */
export class Query {
  readonly #atoms: readonly { readonly predicate: number; readonly terms: readonly number[] }[]

  /** `number` gives the place of a predicate's facts; undefined where there are never any. */
  constructor(
    atoms: readonly QueryAtom[],
    placeholders: Placeholders,
    number: (predicate: string) => number | undefined,
  ) {
    this.#atoms = atoms.map(({ predicate, terms }) => ({
      predicate: number(predicate) ?? -1,
      terms: terms.map(({ name, type }) => placeholders.number(name, type)),
    }))
  }

  holds(context: Context, facts: Facts): boolean {
    return this.#search(0, context, facts, () => true)
  }

  /** Calls `visit` for each answer, in the order of the facts, the first part of the question first. */
  each(context: Context, facts: Facts, visit: () => void): void {
    this.#search(0, context, facts, () => {
      visit()
      return false
    })
  }

  #search(at: number, context: Context, facts: Facts, found: () => boolean): boolean {
    if (at === this.#atoms.length) return found()
    const { predicate, terms } = this.#atoms[at]
    if (predicate < 0) return false
    const table = facts.told[predicate]
    let key = -1
    const open: number[] = []
    for (let place = 0; place < terms.length; place++) {
      if (context[terms[place]] === undefined) open.push(terms[place])
      else if (key < 0) key = place
    }
    const rows = key < 0 ? table.rows : table.where(key, context[terms[key]]!)
    for (const row of rows) {
      const isFound = fits(row, terms, context, facts) && this.#search(at + 1, context, facts, found)
      for (const term of open) context[term] = undefined
      if (isFound) return true
    }
    return false
  }
}

/** Fills in the terms of a fact, as far as it goes. */
function fits(row: readonly number[], terms: readonly number[], context: Context, facts: Facts): boolean {
  for (let place = 0; place < terms.length; place++) {
    const term = terms[place]
    const object = row[place]
    if (context[term] === object) continue
    if (context[term] !== undefined || facts.kind(term)[object] !== 1 || context.includes(object)) return false
    context[term] = object
  }
  return true
}
