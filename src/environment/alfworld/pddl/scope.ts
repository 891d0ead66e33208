import type { Domain } from './domain.js'
import type { Problem } from './problem.js'
import type { Tables } from './search.js'
import { type Row, Table } from './table.js'

/** Names of a problem as numbers: objects in the order of their names, predicates in the order of the domain. */
export class Scope {
  readonly names: readonly string[]
  readonly types: readonly string[]
  readonly start: Tables
  readonly #objects: ReadonlyMap<string, number>
  readonly #predicates: ReadonlyMap<string, number>
  readonly #domain: Domain
  readonly #kinds = new Map<string, Uint8Array>()
  readonly #singles = new Map<number, Table>()

  constructor(domain: Domain, { objects, init }: Pick<Problem, 'objects' | 'init'>) {
    const sorted = [...objects].sort((a, b) => (a.name < b.name ? -1 : 1))
    this.#domain = domain
    this.names = sorted.map(({ name }) => name)
    this.types = sorted.map(({ type }) => type)
    this.#objects = new Map(this.names.map((name, at) => [name, at]))
    this.#predicates = new Map([...domain.predicates.keys()].map((name, at) => [name, at]))
    const rows: Row[][] = Array.from(domain.predicates, () => [])
    for (const { predicate, terms } of init)
      rows[this.predicate(predicate)].push(terms.map((name) => this.object(name)))
    this.start = rows.map((some) => (some.length === 0 ? Table.empty : Table.of(some)))
  }

  /** −1: there is no such object. */
  object(name: string): number {
    return this.#objects.get(name) ?? -1
  }

  /** −1: there is no such predicate. */
  predicate(name: string): number {
    return this.#predicates.get(name) ?? -1
  }

  /** 1 for each object that is of the type. */
  kind(type: string): Uint8Array {
    let kind = this.#kinds.get(type)
    if (!kind) {
      kind = Uint8Array.from(this.types, (own) => (this.#domain.types.isA(own, type) ? 1 : 0))
      this.#kinds.set(type, kind)
    }
    return kind
  }

  /** The same table for the same single fact, so that what is known about it is found again. */
  single(predicate: number, table: Table): Table {
    if (table.rows.length !== 1) return table
    const key = table.rows[0].reduce((sum, object) => sum * this.names.length + object, predicate)
    const known = this.#singles.get(key)
    if (known) return known
    this.#singles.set(key, table)
    return table
  }
}
