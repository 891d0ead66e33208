import { TrinityError } from '../error.js'
import { withoutPassword } from '../secret/index.js'
import { sqlitePath } from './names.js'
import { type Notice, openPostgres } from './postgres.js'
import { PATIENCE } from './postgres-link.js'
import { openSqlite } from './sqlite.js'

export type DatabaseValue = string | number | bigint | Uint8Array | null
export type DatabaseRow = Record<string, DatabaseValue>

/** The little that the tables need from a database. Statements use `?` for their values. */
export interface Database {
  readonly dialect: Dialect
  /** Where it is, without a password. */
  readonly where: string
  /** All of `work` or nothing of it; writers wait for each other. */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  /** One statement that changes nothing. */
  query(sql: string, values?: readonly DatabaseValue[]): Promise<DatabaseRow[]>
  /** What is committed survives a power cut too. */
  flush(): Promise<void>
  close(): Promise<void>
}

export interface Transaction {
  query(sql: string, values?: readonly DatabaseValue[]): Promise<DatabaseRow[]>
  /** Many rows of one table; gives the new ids in order where the table makes them. */
  insert(table: string, columns: readonly string[], rows: readonly DatabaseValue[][], ids: boolean): Promise<number[]>
}

/** Where the two languages differ. */
export interface Dialect {
  readonly serial: string
  readonly key: string
  /** Makes processes that create the same tables go one after the other. */
  readonly lockSchema?: string
  /** Gives the `name` of every table. */
  readonly listTables: string
  /** Gives the `name` of each way in which the server can pack long values; absent: it packs none. */
  readonly listPackings?: string
  readonly now: string
  readonly blob: string
  /** Bytes of a name that are looked at; the rest is cut off without a word. Absent: all of them. */
  readonly longestName?: number
  readonly real: string
  /** Makes the rest of a transaction read rows in the order of an index instead of sorting them all; absent: it does. */
  readonly readInOrder?: string
  /** Ends a SELECT of rows that the transaction is going to change. */
  readonly lockRows: string
  /**
   * A text column of a table that other programs fill, as bytes where the driver needs it: libsql aborts the process on
   * text that is not UTF-8.
   */
  textBytes(column: string): string
  /** A condition on a list of ids, and the value that stands for the list. */
  idsIn(column: string, ids: readonly number[]): { sql: string; value: DatabaseValue }
  /** A condition on a column of type `now`, by the clock of the database, and the value for its age. */
  olderThan(column: string, seconds: number): { sql: string; value: DatabaseValue }
}

/** `notice` is called when the server of the database is away for a while. `silenceMs`: longest wait for one statement. */
export function openDatabase(url: string, notice?: Notice, silenceMs?: number): Promise<Database> {
  if (/^sqlite:/i.test(url)) return openSqlite(sqlitePath(url))
  if (/^postgres(ql)?(\+\w+)?:\/\//i.test(url))
    return openPostgres(
      url.replace(/^postgres(ql)?(\+\w+)?:/i, 'postgres:'),
      notice,
      silenceMs === undefined ? {} : { silenceMs: Math.ceil(Math.min(silenceMs, PATIENCE.silenceMs)) },
    )
  throw new TrinityError('database/url', `'${withoutPassword(url)}' is not a database that Trinity can use`, {
    path: withoutPassword(url),
    hint: 'use sqlite:///relative/or//absolute/file.db or postgresql://user@host/database',
  })
}
