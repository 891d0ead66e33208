import { existsSync } from 'node:fs'
import { type Database, type DatabaseValue, openDatabase } from '../../base/database/database.js'
import { quoted, sqlitePath } from '../../base/database/names.js'
import { TrinityError } from '../../base/error.js'
import type { Experience } from '../../experience/experience.js'
import { fromRow, STORED } from './schema.js'

/** Each limit is included. */
export interface ExperienceFilter {
  rewardMin?: number
  rewardMax?: number
  modelVersionMin?: number
  modelVersionMax?: number
  taskId?: string
}

export interface StoredExperience {
  id: number
  createdAt: string
  consumed: number
  experience: Experience
}

/** Looks into a database of experiences without changing it, whichever job it belongs to. */
export class ExperienceView {
  readonly #db: Database

  private constructor(db: Database) {
    this.#db = db
  }

  static async open(url: string): Promise<ExperienceView> {
    if (url.startsWith('sqlite:') && !existsSync(sqlitePath(url))) {
      throw new TrinityError('buffer/open', `there is no file ${sqlitePath(url)}`, { path: sqlitePath(url) })
    }
    return new ExperienceView(await openDatabase(url))
  }

  /** Names of the buffers in the database. */
  async tables(): Promise<string[]> {
    const rows = await this.#db.query(this.#db.dialect.listTables)
    const names = new Set(rows.map((row) => String(row.name)))
    return [...names].filter((name) => names.has(`${name}_blob`)).sort()
  }

  async count(table: string, filter: ExperienceFilter = {}): Promise<number> {
    const { sql, values } = where(filter)
    const [row] = await this.#db.query(`SELECT count(*) AS n FROM ${quoted(table)} AS m WHERE ${sql}`, values)
    return Number(row.n)
  }

  /** Newest first. */
  async query(
    table: string,
    filter: ExperienceFilter = {},
    { offset = 0, limit = 20 }: { offset?: number; limit?: number } = {},
  ): Promise<StoredExperience[]> {
    const { sql, values } = where(filter)
    const rows = await this.#db.query(
      `SELECT m.created_at, ${STORED} FROM ${quoted(table)} AS m JOIN ${quoted(`${table}_blob`)} AS b ON b.id = m.id
       WHERE ${sql} ORDER BY m.id DESC LIMIT ? OFFSET ?`,
      [...values, limit, offset],
    )
    return rows.map((row) => ({
      id: Number(row.id),
      createdAt: String(row.created_at),
      consumed: Number(row.consumed),
      experience: fromRow(row, `${this.#db.where}, table ${table}, id ${row.id}`),
    }))
  }

  close(): Promise<void> {
    return this.#db.close()
  }
}

function where(filter: ExperienceFilter): { sql: string; values: DatabaseValue[] } {
  const tests: [string, DatabaseValue | undefined][] = [
    ['m.reward >= ?', filter.rewardMin],
    ['m.reward <= ?', filter.rewardMax],
    ['m.model_version >= ?', filter.modelVersionMin],
    ['m.model_version <= ?', filter.modelVersionMax],
    ['m.task_id = ?', filter.taskId],
  ]
  const used = tests.filter((test): test is [string, DatabaseValue] => test[1] !== undefined)
  return { sql: used.map(([sql]) => sql).join(' AND ') || '1 = 1', values: used.map(([, value]) => value) }
}
