/** The terms of a fact: numbers of objects. */
export type Row = readonly number[]

/** All facts of one predicate, in the order of their terms. It is never changed: `with` and `without` give new ones. */
export class Table {
  static readonly empty = new Table([])
  readonly rows: readonly Row[]
  /** By place of the term: its value, and the rows that have it there. */
  readonly #indexes: Map<number, readonly Row[]>[] = []

  private constructor(rows: readonly Row[]) {
    this.rows = rows
  }

  static of(rows: readonly Row[]): Table {
    const sorted = [...rows].sort(compare)
    return new Table(sorted.filter((row, at) => at === 0 || compare(sorted[at - 1], row) !== 0))
  }

  has(row: Row): boolean {
    const at = this.#place(row)
    return at < this.rows.length && compare(this.rows[at], row) === 0
  }

  /** Rows with this term at this place, in order. */
  where(place: number, term: number): readonly Row[] {
    const index = this.#indexes[place] ?? this.#index(place)
    return index.get(term) ?? NONE
  }

  /** How many different terms stand at this place; 1 if there are none. */
  variety(place: number): number {
    return Math.max(1, (this.#indexes[place] ?? this.#index(place)).size)
  }

  with(row: Row): Table {
    const at = this.#place(row)
    if (at < this.rows.length && compare(this.rows[at], row) === 0) return this
    return new Table([...this.rows.slice(0, at), row, ...this.rows.slice(at)])
  }

  without(row: Row): Table {
    const at = this.#place(row)
    if (at >= this.rows.length || compare(this.rows[at], row) !== 0) return this
    return this.rows.length === 1 ? Table.empty : new Table(this.rows.filter((_, other) => other !== at))
  }

  #index(place: number): Map<number, readonly Row[]> {
    const index = new Map<number, Row[]>()
    for (const row of this.rows) {
      const same = index.get(row[place])
      if (same) same.push(row)
      else index.set(row[place], [row])
    }
    this.#indexes[place] = index
    return index
  }

  /** Where it is, or would be. */
  #place(row: Row): number {
    let low = 0
    let high = this.rows.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (compare(this.rows[middle], row) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}

const NONE: readonly Row[] = []

function compare(left: Row, right: Row): number {
  for (let at = 0; at < left.length; at++) if (left[at] !== right[at]) return left[at] - right[at]
  return 0
}
