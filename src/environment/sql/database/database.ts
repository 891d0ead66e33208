import { TrinityError } from '../../../base/error.js'
import { type SqlPool, sqlPool } from './pool.js'
import type { Base, Cell, Limits } from './protocol.js'
import { understand } from './statement.js'

/** What a statement may take. */
const LIMITS: Limits = { steps: 50_000_000, ms: 60_000, rows: 10_000, characters: 1_000_000 }

/** What came of a statement: rows, nothing where it gives none, or what is wrong with it. */
export type Result = { readonly rows: readonly (readonly Cell[])[] | undefined } | { readonly error: string }

/**
 * A database as one episode sees it: what it began with, and the statements that have changed it since. Those are done
 * again before each further one, and everything is rolled back behind it.
 */
export class SqlDatabase {
  readonly #base: Base
  readonly #pool: SqlPool
  readonly #limits: Limits
  /** What makes it what it is now. */
  journal: readonly string[] = []

  constructor(base: Base, pool: SqlPool = sqlPool, limits: Partial<Limits> = {}) {
    this.#base = base
    this.#pool = pool
    this.#limits = { ...LIMITS, ...limits }
  }

  /** Runs one statement of anybody. */
  async run(text: string, signal?: AbortSignal): Promise<Result> {
    const understood = understand(text, this.#base.name)
    if ('error' in understood) return understood
    const { sql } = understood
    if (sql === undefined) return { rows: undefined }
    const { journal } = this
    const answer = await this.#pool.run(
      this.#base,
      { base: this.#base.key, journal, sql, limits: this.#limits },
      signal,
    )
    if (answer.kind === 'error') return { error: answer.message }
    if (answer.kind === 'broken') {
      throw new TrinityError(
        'environment/data',
        `the database '${this.#base.name}' cannot be made: ${answer.message}`,
        {
          path: this.#base.name,
          hint: 'expected a SQLite database, or SQL of SQLite that makes one',
        },
      )
    }
    if (answer.changes) this.journal = [...journal, sql]
    return { rows: answer.rows }
  }
}
