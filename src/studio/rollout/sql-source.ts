import type Libsql from 'libsql'
import { type DatabaseRow, type DatabaseValue, openDatabase } from '../../base/database/database.js'
import { libsql } from '../../base/database/libsql.js'
import { quoted } from '../../base/database/names.js'
import { checkSchema, prepareRead } from '../../base/database/read-rows.js'
import { messageOf, TrinityError } from '../../base/error.js'
import { fromRow, STORED } from '../../buffer/sql/schema.js'
import { peekExperience } from '../../experience/binary.js'
import { type RowFacts, rowOf } from './row.js'
import { BRIEF, type Source } from './source.js'

/** Rows that are read at a time. */
const BATCH = 5000
/** Of an experience: the fields before its arrays, unless somebody has put a novel into `info`. */
const HEAD_BYTES = 8192

/** The one thing that Studio asks of a database. */
export interface Asked {
  readonly where: string
  query(sql: string, values?: readonly DatabaseValue[]): Promise<DatabaseRow[]>
  close(): Promise<void>
}

/** A SQLite file that nothing is written to, also while a run writes. */
export function openToRead(path: string): Asked {
  let db: Libsql.Database | undefined
  try {
    db = new (libsql())(path, { readonly: true, timeout: 2000 } as Libsql.Options)
    checkSchema(db, path)
  } catch (cause) {
    db?.close()
    throw new TrinityError('studio/store', `cannot open ${path} as a SQLite database: ${messageOf(cause)}`, {
      path,
      hint: 'is it a file that a run has written, and all of it?',
      cause,
    })
  }
  const opened = db
  return {
    where: path,
    async query(sql, values = []) {
      return prepareRead(opened, sql, path)(values)
    },
    async close() {
      opened.close()
    },
  }
}

/** A database by its URL, as `trinity view` is given it. */
export async function openByUrl(url: string): Promise<Asked & { readonly listTables: string }> {
  const db = await openDatabase(url)
  return {
    where: db.where,
    listTables: db.dialect.listTables,
    query: (sql, values) => db.query(sql, values),
    close: () => db.close(),
  }
}

export const SQLITE_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table'"

/** Tables of experiences: each has another one with its arrays beside it. */
export async function experienceTables(db: Asked, listTables = SQLITE_TABLES): Promise<string[]> {
  const names = new Set((await db.query(listTables)).map((row) => String(row.name)))
  return [...names].filter((name) => names.has(`${name}_blob`)).sort()
}

/** A table of experiences. */
export class SqlSource implements Source {
  readonly #db: Asked
  readonly #name: string
  readonly #table: string

  constructor(db: Asked, table: string) {
    this.#db = db
    this.#name = table
    this.#table = quoted(table)
  }

  async scan(after: number, take: Parameters<Source['scan']>[1]): Promise<void> {
    for (let last = after; ; ) {
      const rows = await this.#db.query(
        `SELECT id, batch_id, task_id, run_id, model_version, reward, failure FROM ${this.#table}
         WHERE id > ? ORDER BY id LIMIT ${BATCH}`,
        [last],
      )
      for (const row of rows) {
        last = Number(row.id)
        take({
          key: last,
          step: String(row.batch_id),
          task: String(row.task_id),
          run: Number(row.run_id),
          version: Number(row.model_version),
          reward: row.reward === null ? undefined : Number(row.reward),
          failure: row.failure === null ? undefined : String(row.failure),
        })
      }
      if (rows.length < BATCH) return
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  /** What is taken back is always the newest, and ids are never given again: if the last is there, all are. */
  async isSame(last: number): Promise<boolean> {
    return (await this.#db.query(`SELECT id FROM ${this.#table} WHERE id = ?`, [last])).length > 0
  }

  async rows(keys: readonly number[]) {
    const rows = await this.#pick(
      keys,
      `id, created_at, batch_id, task_id, run_id, type, model_version, reward, consumed, truncate_status, failure,
       substr(prompt_text, 1, ${BRIEF + 1}) AS prompt, substr(response_text, 1, ${BRIEF + 1}) AS response`,
    )
    const heads = await this.#heads(keys)
    return rows.map((row) =>
      rowOf({
        ...heads.get(Number(row.id)),
        ...{ key: Number(row.id), batch: row.batch_id, task: row.task_id, run: row.run_id, type: row.type },
        ...{ version: row.model_version, reward: row.reward === null ? undefined : Number(row.reward) },
        ...{ created: String(row.created_at), consumed: row.consumed, failure: row.failure },
        ...{ truncated: row.truncate_status, prompt: row.prompt, response: row.response },
      }),
    )
  }

  async withText(keys: readonly number[], text: string): Promise<number[]> {
    const rows = await this.#pick(keys, 'id, prompt_text, response_text')
    const has = (value: unknown) => typeof value === 'string' && value.toLowerCase().includes(text)
    return rows.filter((row) => has(row.prompt_text) || has(row.response_text)).map((row) => Number(row.id))
  }

  async read(key: number) {
    const [row] = await this.#db.query(
      `SELECT ${STORED} FROM ${this.#table} AS m JOIN ${quoted(`${this.#name}_blob`)} AS b ON b.id = m.id WHERE m.id = ?`,
      [key],
    )
    if (row) return fromRow(row, `${this.#db.where}, table ${this.#name}, id ${key}`)
    throw new TrinityError('studio/no-rollout', `table ${this.#name} has no experience ${key}`)
  }

  close(): Promise<void> {
    return this.#db.close()
  }

  /** What stands only in the bytes: read from their beginning, without the tokens. */
  async #heads(keys: readonly number[]): Promise<Map<number, Pick<RowFacts, 'responseLength' | 'info'>>> {
    const heads = new Map<number, Pick<RowFacts, 'responseLength' | 'info'>>()
    const blobs = quoted(`${this.#name}_blob`)
    const rows = await this.#pick(keys, `id, substr(experience_bytes, 1, ${HEAD_BYTES}) AS head`, blobs)
    for (const { id, head } of rows) {
      const known = head instanceof Uint8Array ? peekExperience(head) : undefined
      const total = known?.lengths.get('tokens')
      if (!known || total === undefined) continue
      heads.set(Number(id), { responseLength: total - Number(known.plain.prompt_length ?? 0), info: known.plain.info })
    }
    return heads
  }

  async #pick(keys: readonly number[], columns: string, table = this.#table): Promise<DatabaseRow[]> {
    if (keys.length === 0) return []
    const places = keys.map(() => '?').join(', ')
    const rows = await this.#db.query(`SELECT ${columns} FROM ${table} WHERE id IN (${places})`, keys)
    const byKey = new Map(rows.map((row) => [Number(row.id), row]))
    return keys.map((key) => byKey.get(key)).filter((row) => row !== undefined)
  }
}
