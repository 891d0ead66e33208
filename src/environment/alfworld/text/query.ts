import type { Row, Table } from '../pddl/table.js'
import type { QueryAtom } from './symbols.js'

/** Numbers for the names in texts: placeholders, which are a name and a type, and variables, which are the names alone. */
export class Vocabulary {
  readonly #placeholders = new Map<string, number>()
  readonly #variables = new Map<string, number>()
  /** Of each placeholder. */
  readonly types: string[] = []
  readonly variables: number[] = []

  placeholder(name: string, type: string): number {
    const key = `${name}:${type}`
    let known = this.#placeholders.get(key)
    if (known === undefined) {
      known = this.#placeholders.size
      this.#placeholders.set(key, known)
      this.types.push(type)
      this.variables.push(this.variable(name))
    }
    return known
  }

  variable(name: string): number {
    let known = this.#variables.get(name)
    if (known === undefined) {
      known = this.#variables.size
      this.#variables.set(name, known)
    }
    return known
  }
}

/** Objects that names stand for; a name without one is absent. */
export interface Context {
  readonly placeholders: readonly (number | undefined)[]
  readonly variables: readonly (number | undefined)[]
}

export const NOTHING: Context = { placeholders: [], variables: [] }

/** The context with these objects for these placeholders. */
export function bound(
  { placeholders, variables }: Context,
  names: readonly number[],
  objects: readonly number[],
  vocabulary: Vocabulary,
): Context {
  const [more, own] = [[...placeholders], [...variables]]
  names.forEach((name, at) => {
    more[name] = objects[at]
    own[vocabulary.variables[name]] = objects[at]
  })
  return { placeholders: more, variables: own }
}

/** What questions are asked about. */
export interface Facts {
  readonly told: readonly Table[]
  /** 1 for each object that may stand for a placeholder. */
  kind(placeholder: number): Uint8Array
}

/** A question about the facts: which objects fit? Different placeholders stand for different objects. */
export class Query {
  readonly #atoms: readonly { readonly predicate: number; readonly terms: readonly number[] }[]
  readonly #vocabulary: Vocabulary

  /** `number` gives the place of a predicate's facts; undefined where there are never any. */
  constructor(atoms: readonly QueryAtom[], vocabulary: Vocabulary, number: (predicate: string) => number | undefined) {
    this.#vocabulary = vocabulary
    this.#atoms = atoms.map(({ predicate, terms }) => ({
      predicate: number(predicate) ?? -1,
      terms: terms.map(({ name, type }) => vocabulary.placeholder(name, type)),
    }))
  }

  holds(context: Context, facts: Facts): boolean {
    return this.#search(0, [...context.placeholders], facts, () => true)
  }

  /** In the order of the facts, the first part of the question first. */
  answers(context: Context, facts: Facts): Context[] {
    const found: Context[] = []
    this.#search(0, [...context.placeholders], facts, (placeholders) => {
      const variables = [...context.variables]
      placeholders.forEach((object, at) => {
        if (object !== undefined) variables[this.#vocabulary.variables[at]] = object
      })
      found.push({ placeholders: [...placeholders], variables })
      return false
    })
    return found
  }

  #search(
    at: number,
    values: (number | undefined)[],
    facts: Facts,
    found: (values: readonly (number | undefined)[]) => boolean,
  ): boolean {
    if (at === this.#atoms.length) return found(values)
    const { predicate, terms } = this.#atoms[at]
    if (predicate < 0) return false
    const table = facts.told[predicate]
    const key = terms.findIndex((term) => values[term] !== undefined)
    const rows = key < 0 ? table.rows : table.where(key, values[terms[key]]!)
    const open = terms.filter((term) => values[term] === undefined)
    for (const row of rows) {
      if (bind(row, terms, values, facts) && this.#search(at + 1, values, facts, found)) return true
      for (const term of open) values[term] = undefined
    }
    return false
  }
}

function bind(row: Row, terms: readonly number[], values: (number | undefined)[], facts: Facts): boolean {
  for (let place = 0; place < terms.length; place++) {
    const [term, object] = [terms[place], row[place]]
    if (values[term] === object) continue
    if (values[term] !== undefined || facts.kind(term)[object] !== 1 || values.includes(object)) return false
    values[term] = object
  }
  return true
}
