import { dirname, resolve } from 'node:path'
import type Libsql from 'libsql'
import { breather } from '../breather.js'
import { messageOf, TrinityError } from '../error.js'
import { makeFolderSync } from '../file/make-folder.js'
import { systemError } from '../file/system-error.js'
import { whileBusy } from './busy.js'
import type { Database, DatabaseRow, DatabaseValue, Dialect, Transaction } from './database.js'
import { libsql } from './libsql.js'
import { Mutex } from './mutex.js'
import { checkSchema, damageError, prepareRead, type ReadRows, withBytes } from './read-rows.js'

const dialect: Dialect = {
  serial: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  key: 'INTEGER PRIMARY KEY',
  listTables: "SELECT name FROM sqlite_master WHERE type = 'table'",
  now: "TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now'))",
  blob: 'BLOB',
  real: 'REAL',
  lockRows: '',
  textBytes: (column) => `CAST(${column} AS BLOB)`,
  idsIn: (column, ids) => ({ sql: `${column} IN (SELECT value FROM json_each(?))`, value: JSON.stringify(ids) }),
  olderThan: (column, seconds) => ({
    sql: `${column} < strftime('%Y-%m-%d %H:%M:%f', 'now', ?)`,
    value: `-${seconds} seconds`,
  }),
}

/** Milliseconds a statement waits, blocking, for another process; after that the wait goes on asynchronously. */
const BUSY_MS = 200
/** How long another process may keep the file locked before that is a failure. */
const BUSY_LIMIT_MS = 60_000
/** An experience of usual length lies in one page, not in a chain of small ones. */
const PAGE_BYTES = 16384
const ROWS_AT_ONCE = 32
const SELECT = /^\s*SELECT\b/i
/** Its columns change with the table, so it is prepared for each query. */
const SELECT_ALL = /\bSELECT\s+\*/i

/**
 * One connection per file and process, shared by all who open it: two connections of one process would wait for each
 * other's transaction with the event loop blocked.
 */
const open = new Map<string, { connection: Promise<Connection>; users: number }>()

export async function openSqlite(path: string, busyLimitMs = BUSY_LIMIT_MS): Promise<Database> {
  const file = resolve(path)
  const found = open.get(file) ?? { connection: Connection.open(file, busyLimitMs), users: 0 }
  open.set(file, found)
  found.users++
  const connection = await found.connection.catch((error: unknown) => {
    if (open.get(file) === found) open.delete(file)
    throw error
  })
  let closed = false
  return {
    dialect,
    where: path,
    transaction: (work) => connection.transaction(work),
    query: (sql, values) => connection.alone(async (tx) => tx.query(sql, values)),
    flush: () => connection.flush(),
    async close() {
      if (closed) return
      closed = true
      if (--found.users > 0) return
      open.delete(file)
      await connection.close()
    },
  }
}

class Connection {
  readonly #file: string
  readonly #db: Libsql.Database
  readonly #limitMs: number
  readonly #mutex = new Mutex()
  readonly #statements = new Map<string, Libsql.Statement<unknown[]>>()
  readonly #reads = new Map<string, ReadRows>()
  readonly #tx: Transaction

  private constructor(file: string, db: Libsql.Database, limitMs: number) {
    this.#file = file
    this.#db = db
    this.#limitMs = limitMs
    this.#tx = {
      query: async (sql, values = []) => this.#query(sql, values),
      insert: (table, columns, rows, ids) => this.#insert(table, columns, rows, ids),
    }
  }

  static async open(file: string, limitMs: number): Promise<Connection> {
    let db: Libsql.Database | undefined
    try {
      makeFolderSync(dirname(file))
      const opened = new (libsql())(file)
      db = opened
      opened.exec(`PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA page_size = ${PAGE_BYTES}`)
      await whileBusy(file, limitMs, () => opened.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL'))
      await whileBusy(file, limitMs, () => checkSchema(opened, file))
      return new Connection(file, opened, limitMs)
    } catch (cause) {
      db?.close()
      const told = systemError(cause, file)
      if (told instanceof TrinityError) throw told
      throw new TrinityError('database/open', `cannot open ${file} as a SQLite database: ${messageOf(cause)}`, {
        path: file,
        cause,
      })
    }
  }

  alone<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#mutex.run(async () => {
      try {
        return await work(this.#tx)
      } catch (error) {
        throw damageError(error, this.#file)
      }
    })
  }

  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#mutex.run(async () => {
      // Asking for the write lock first means that no transaction has to be repeated because of another writer.
      await this.#begin()
      try {
        const result = await work(this.#tx)
        this.#db.exec('COMMIT')
        return result
      } catch (error) {
        if (this.#db.inTransaction) this.#db.exec('ROLLBACK')
        throw systemError(damageError(error, this.#file), this.#file)
      }
    })
  }

  #begin(): Promise<unknown> {
    return whileBusy(this.#file, this.#limitMs, () => this.#db.exec('BEGIN IMMEDIATE'))
  }

  #statement(sql: string): Libsql.Statement<unknown[]> {
    const known = this.#statements.get(sql)
    if (known) return known
    const statement = this.#db.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }

  #query(sql: string, values: readonly DatabaseValue[]): DatabaseRow[] {
    if (SELECT.test(sql)) return this.#read(sql)(values)
    const statement = this.#statement(sql)
    // Rows of a RETURNING: it may not name a text column, which the driver cannot read when it is damaged.
    if (statement.reader) return (statement.all(values) as DatabaseRow[]).map(withBytes)
    statement.run(values)
    return []
  }

  #read(sql: string): ReadRows {
    const known = this.#reads.get(sql)
    if (known) return known
    const read = prepareRead(this.#db, sql, this.#file)
    if (!SELECT_ALL.test(sql)) this.#reads.set(sql, read)
    return read
  }

  async #insert(
    table: string,
    columns: readonly string[],
    rows: readonly DatabaseValue[][],
    ids: boolean,
  ): Promise<number[]> {
    const breathe = breather()
    const places = `(${columns.map(() => '?').join(', ')})`
    const into = `INSERT INTO ${table} (${columns.join(', ')}) VALUES `
    const made: number[] = []
    for (let at = 0; at < rows.length; ) {
      // A quarter less time than row by row; what is left goes one by one, so that there are only two statements.
      const count = rows.length - at >= ROWS_AT_ONCE ? ROWS_AT_ONCE : 1
      const statement = this.#statement(into + new Array(count).fill(places).join(', '))
      const { lastInsertRowid } = statement.run(rows.slice(at, at + count).flat())
      // With AUTOINCREMENT the rows of a statement get ids one after the other.
      if (ids) for (let i = count - 1; i >= 0; i--) made.push(Number(lastInsertRowid) - i)
      at += count
      await breathe()
    }
    return made
  }

  /** In WAL mode a commit is synced to the disk only with the next checkpoint of the log. */
  flush(): Promise<void> {
    return this.#mutex.run(async () => {
      this.#db.pragma('wal_checkpoint(PASSIVE)')
    })
  }

  close(): Promise<void> {
    return this.#mutex.run(async () => {
      this.#statements.clear()
      this.#reads.clear()
      this.#db.close()
    })
  }
}
