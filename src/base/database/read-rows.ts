import { isUtf8 } from 'node:buffer'
import { types } from 'node:util'
import type Libsql from 'libsql'
import { messageOf, TrinityError } from '../error.js'
import type { DatabaseRow, DatabaseValue } from './database.js'
import { quoted } from './names.js'

/** Columns whose marks share a number; bit operations of JavaScript have 32 bits. */
const MARKS = 30

/** Reads the rows of one statement. Values go as one list: the driver takes bytes that stand alone for names. */
export type ReadRows = (values: readonly DatabaseValue[]) => DatabaseRow[]

/**
 * Prepares a SELECT whose texts may be damaged. libsql aborts the process on text that is not UTF-8, in a column of any
 * type. So texts are read as bytes, with a mark that tells them from blobs, and a row with such a text throws
 * `database/damaged`.
 *
 * ```ts
 * const read = prepareRead(db, 'SELECT id, name FROM items WHERE id > ?', 'file.db')
 * const rows = read([10])
 * ```
 */
export function prepareRead(db: Libsql.Database, sql: string, file: string): ReadRows {
  const read = guarded(file, () => prepare(db, sql, file))
  return (values) => guarded(file, () => read(values))
}

function guarded<T>(file: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw damageError(error, file)
  }
}

function prepare(db: Libsql.Database, sql: string, file: string): ReadRows {
  const select = sql.replace(/;\s*$/, '')
  const plain = db.prepare(select)
  // Node's own SQLite has no `columns` before 22.16; it decodes such texts with U+FFFD.
  if (typeof plain.columns !== 'function') return (values) => (plain.all(values) as DatabaseRow[]).map(withBytes)
  const names = plain.columns().map(({ name }) => name)
  const columns = names.map(quoted)
  const read = columns.map(
    (column) => `CASE typeof(${column}) WHEN 'text' THEN CAST(${column} AS BLOB) ELSE ${column} END`,
  )
  const marks: string[] = []
  columns.forEach((column, i) => {
    const mark = `((typeof(${column}) = 'text') << ${i % MARKS})`
    if (i % MARKS === 0) marks.push(mark)
    else marks[marks.length - 1] += ` | ${mark}`
  })
  // Arrays outweigh the additional columns: the plain statement with its objects takes more time.
  const statement = db.prepare(`SELECT ${[...read, ...marks].join(', ')} FROM (${select})`).raw(true)
  const isText = (cells: readonly unknown[], i: number) =>
    (((cells[names.length + Math.floor(i / MARKS)] as number) >> (i % MARKS)) & 1) === 1
  return (values) =>
    (statement.all(values) as unknown[][]).map((cells) => {
      const row: DatabaseRow = {}
      for (let i = 0; i < names.length; i++) {
        const cell = cells[i]
        if (!Buffer.isBuffer(cell)) row[names[i]] = cell as DatabaseValue
        else if (!isText(cells, i)) row[names[i]] = new Uint8Array(cell.buffer, cell.byteOffset, cell.byteLength)
        else if (isUtf8(cell)) row[names[i]] = cell.toString('utf8')
        else throw damaged(file, `column ${names[i]}${rowName(names, cells)} is not UTF-8`)
      }
      return row
    })
}

/** Throws `database/damaged` if the declaration of a table is not UTF-8: the driver aborts the process on it too. */
export function checkSchema(db: Libsql.Database, file: string): void {
  const declared = guarded(file, () =>
    db.prepare('SELECT CAST(name AS BLOB) AS name, CAST(sql AS BLOB) AS sql FROM sqlite_master').all(),
  )
  for (const text of (declared as Record<string, unknown>[]).flatMap((row) => Object.values(row))) {
    if (types.isArrayBuffer(text) && !isUtf8(text)) throw damaged(file, 'the declaration of a table is not UTF-8')
  }
}

/** Returns the error of a file that is damaged, with its path; any other error as it is. */
export function damageError(error: unknown, file: string): unknown {
  const { code } = (error ?? {}) as { code?: string }
  if (code !== 'SQLITE_CORRUPT' && code !== 'SQLITE_NOTADB') return error
  return damaged(file, messageOf(error), error)
}

function damaged(file: string, why: string, cause?: unknown): TrinityError {
  return new TrinityError('database/damaged', `the database ${file} is damaged: ${why}`, {
    path: file,
    hint: 'restore the file from a backup, or save what can be read with: sqlite3 FILE .recover',
    cause,
  })
}

/** The driver gives blobs as bare ArrayBuffers. */
export function withBytes(row: DatabaseRow): DatabaseRow {
  for (const name in row) if (types.isArrayBuffer(row[name])) row[name] = new Uint8Array(row[name])
  return row
}

function rowName(names: readonly string[], cells: readonly unknown[]): string {
  const id = cells[names.indexOf('id')]
  return typeof id === 'number' ? ` of the row with id ${id}` : ''
}
