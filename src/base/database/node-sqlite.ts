type Value = null | number | bigint | string | Uint8Array
interface StatementSync {
  all(...values: Value[]): unknown[]
  get(...values: Value[]): unknown
  run(...values: Value[]): { changes: number | bigint; lastInsertRowid: number | bigint }
}
interface DatabaseSync {
  exec(sql: string): void
  prepare(sql: string): StatementSync
  close(): void
}
/** The part of `node:sqlite` that is used. */
export interface NodeSqlite {
  readonly DatabaseSync: new (path: string, options: { readOnly: boolean }) => DatabaseSync
}

/** SQLite's numbers, by the names that libsql gives its errors. */
const CODES: Readonly<Record<number, string>> = {
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  11: 'SQLITE_CORRUPT',
  13: 'SQLITE_FULL',
}

interface Statement {
  readonly reader: boolean
  all(...values: (Value | Value[])[]): unknown[]
  get(...values: (Value | Value[])[]): unknown
  run(...values: (Value | Value[])[]): { changes: number | bigint; lastInsertRowid: number | bigint }
}
type SqliteConstructor = new (
  path: string,
  options?: { readonly?: boolean; timeout?: number },
) => {
  readonly inTransaction: boolean
  exec(sql: string): void
  pragma(text: string): void
  prepare(sql: string): Statement
  close(): void
}

/** Node's own SQLite (22.13 or newer) with the part of libsql's interface that is used here. */
export function nodeSqlite({ DatabaseSync: Database }: NodeSqlite): SqliteConstructor {
  return class {
    readonly #db: DatabaseSync
    #inTransaction = false

    constructor(path: string, { readonly = false, timeout = 0 } = {}) {
      this.#db = told(() => new Database(path, { readOnly: readonly }))
      if (timeout > 0) this.exec(`PRAGMA busy_timeout = ${timeout}`)
    }

    get inTransaction(): boolean {
      return this.#inTransaction
    }

    exec(sql: string): void {
      told(() => this.#db.exec(sql))
      const last = [...sql.matchAll(/\b(BEGIN|COMMIT|ROLLBACK)\b/g)].at(-1)?.[1]
      if (last) this.#inTransaction = last === 'BEGIN'
    }
    pragma(text: string): void {
      told(() => this.#db.prepare(`PRAGMA ${text}`).all())
    }
    prepare(sql: string) {
      return statement(told(() => this.#db.prepare(sql)))
    }
    close(): void {
      this.#db.close()
    }
  }
}

/** Values may come as one list. Reading runs any statement; one that gives no rows gives none. */
function statement(prepared: StatementSync): Statement {
  const flat = (values: readonly (Value | readonly Value[])[]) => values.flat() as Value[]
  return {
    reader: true,
    all: (...values: (Value | Value[])[]) => told(() => prepared.all(...flat(values))),
    get: (...values: (Value | Value[])[]) => told(() => prepared.get(...flat(values))),
    run: (...values: (Value | Value[])[]) => told(() => prepared.run(...flat(values))),
  }
}

function told<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    const code = CODES[(error as { errcode?: number }).errcode ?? 0]
    throw code && error instanceof Error ? Object.assign(error, { code }) : error
  }
}
