import { existsSync } from 'node:fs'
import { type Database, openDatabase } from '../../base/database/database.js'
import { quoted, sqlitePath } from '../../base/database/names.js'
import { messageOf, TrinityError } from '../../base/error.js'
import { withoutPassword } from '../../base/secret/index.js'
import { parseJson } from './exact-json.js'
import type { DataRow, RowSource } from './row-source.js'
import { recordText } from './utf8.js'

/** Rows of one query of a scan. */
const SCANNED_AT_ONCE = 500

/** A table with the columns `id` and `raw_task` (the record as JSON), in the order of the ids at the time of opening. */
export class SqlSource implements RowSource {
  readonly #database: Database
  readonly #table: string
  readonly #ids: Float64Array

  private constructor(database: Database, table: string, ids: Float64Array) {
    this.#database = database
    this.#table = table
    this.#ids = ids
  }

  static async open(url: string, table: string): Promise<SqlSource> {
    if (url.startsWith('sqlite:') && !existsSync(sqlitePath(url))) {
      throw new TrinityError('data/not-found', `there is no database at '${url}'`, { path: sqlitePath(url) })
    }
    const database = await openDatabase(url)
    try {
      const rows = await database.query(`SELECT id FROM ${quoted(table)} ORDER BY id`)
      const ids = Float64Array.from(rows, (row) => Number(row.id))
      if (ids.length > 0) return new SqlSource(database, table, ids)
      throw new TrinityError('data/empty', `the table '${table}' has no rows`, { path: withoutPassword(url) })
    } catch (error) {
      await database.close()
      if (error instanceof TrinityError && error.code === 'data/empty') throw error
      throw new TrinityError('data/malformed', `cannot read tasks from the table '${table}': ${messageOf(error)}`, {
        path: withoutPassword(url),
        hint: 'the table has the name of the task set and the columns id and raw_task',
        cause: error,
      })
    }
  }

  get length(): number {
    return this.#ids.length
  }

  async row(index: number): Promise<DataRow> {
    const sql = `SELECT ${this.#rawTask} FROM ${quoted(this.#table)} WHERE id = ?`
    const [found] = await this.#database.query(sql, [this.#ids[index]])
    return this.#record(index, found)
  }

  async *scan(): AsyncIterable<DataRow> {
    for (let from = 0; from < this.length; from += SCANNED_AT_ONCE) {
      const ids = [...this.#ids.subarray(from, from + SCANNED_AT_ONCE)]
      const where = this.#database.dialect.idsIn('id', ids)
      const sql = `SELECT id, ${this.#rawTask} FROM ${quoted(this.#table)} WHERE ${where.sql}`
      const found = new Map((await this.#database.query(sql, [where.value])).map((row) => [Number(row.id), row]))
      for (const [i, id] of ids.entries()) yield await this.#record(from + i, found.get(id))
    }
  }

  async #record(index: number, found: { raw_task?: unknown } | undefined): Promise<DataRow> {
    const raw = found?.raw_task
    const text = raw instanceof Uint8Array ? await recordText(raw, () => this.where(index)) : raw
    // PostgreSQL has a JSON type and gives the object itself.
    const value: unknown = typeof text === 'string' ? parsed(text) : text
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value as DataRow
    throw new TrinityError('data/malformed', found ? 'raw_task is not a JSON object' : 'the row has been deleted', {
      path: await this.where(index),
    })
  }

  get #rawTask(): string {
    return `${this.#database.dialect.textBytes('raw_task')} AS raw_task`
  }

  async where(index: number): Promise<string> {
    return `${this.#database.where}, table ${this.#table}, id ${this.#ids[index]}`
  }

  close(): Promise<void> {
    return this.#database.close()
  }
}

function parsed(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}
