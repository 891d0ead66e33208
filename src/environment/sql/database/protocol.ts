/** What is said between this thread and those that run SQL. */

/** What a database is made of: the bytes of a SQLite file, SQL that makes its tables, or first the one, then the other. */
export interface Base {
  /** Two bases with the same key are the same. */
  readonly key: string
  /** As `DATABASE()` gives it. */
  readonly name: string
  readonly bytes?: SharedArrayBuffer
  readonly setup?: string
}

/** One statement, after those that have changed the tables before it. */
export interface Call {
  readonly base: string
  readonly journal: readonly string[]
  readonly sql: string
  readonly limits: Limits
}

/** What one statement may take. */
export interface Limits {
  /** Of the machine that SQLite is: the same on a slow computer and on a fast one. */
  readonly steps: number
  /** For the rare statement that takes long in one step: its thread is ended. */
  readonly ms: number
  readonly rows: number
  readonly characters: number
}

export interface Request extends Call {
  /** Sent once to each thread. */
  readonly open?: Base
}

/** A whole number is a bigint, any other number a number. */
export type Cell = null | string | bigint | number | Uint8Array

export type Answer =
  /** `rows` absent: the statement gives none. `changes`: it may have changed the tables. */
  | { readonly kind: 'done'; readonly rows?: readonly (readonly Cell[])[]; readonly changes: boolean }
  | { readonly kind: 'error'; readonly message: string }
  /** The database itself cannot be made. */
  | { readonly kind: 'broken'; readonly message: string }
