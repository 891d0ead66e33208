import { breather } from '../../base/breather.js'
import type { Database, DatabaseRow, DatabaseValue, Transaction } from '../../base/database/database.js'
import { quoted, storedName } from '../../base/database/names.js'
import { TrinityError } from '../../base/error.js'
import type { Experience } from '../../experience/experience.js'
import { COLUMNS, createTables, fromRow, STORED, toBlob, toRow } from './schema.js'

export interface ClaimOptions {
  minModelVersion?: number
  /** Milliseconds since 1970: rows that cool down until later are left alone. */
  now: number
  /** Later rows are left alone. */
  maxId?: number
}

/** Runs in the transaction that changes these rows, before the change. */
export type BeforeChange = (tx: Transaction, rows: readonly DatabaseRow[]) => Promise<void>

/** How a row stands after it was handed out; without a priority it is used up. */
export type NextPriority = (experience: Experience) => { priority: number; availableAt: number } | undefined

export interface ReadyRow {
  id: number
  consumed: number
  priority?: number
  availableAt?: number
}

/** State of a table at a moment. */
export interface TableCut {
  lastId: number
  ready: ReadyRow[]
}

/** One table of experiences, and the table of their bytes beside it. */
export class ExperienceTable {
  readonly db: Database
  readonly name: string
  readonly #table: string
  readonly #blobs: string

  private constructor(db: Database, name: string) {
    this.db = db
    this.name = name
    this.#table = quoted(name)
    this.#blobs = quoted(`${name}_blob`)
  }

  /** Takes over the database: closing the table closes it. */
  static async open(db: Database, name: string): Promise<ExperienceTable> {
    const stored = storedName(name, db.dialect.longestName)
    await createTables(db, stored)
    return new ExperienceTable(db, stored)
  }

  /** Gives the id of each row. `also` runs in the same transaction. */
  async insert(
    experiences: readonly Experience[],
    priorities?: readonly (number | undefined)[],
    also?: (tx: Transaction) => Promise<void>,
  ): Promise<number[]> {
    // Encoded before the transaction begins, so that the lock is held no longer than the writing takes.
    const rows: DatabaseValue[][] = []
    const blobs: Buffer[] = []
    const breathe = breather()
    for (const [i, experience] of experiences.entries()) {
      rows.push(toRow(experience, priorities ? priorities[i] : 0))
      blobs.push(toBlob(experience))
      await breathe()
    }
    return this.db.transaction(async (tx) => {
      const ids = await tx.insert(this.#table, COLUMNS, rows, true)
      const blobRows = ids.map((id, i): DatabaseValue[] => [id, blobs[i]])
      await tx.insert(this.#blobs, ['id', 'experience_bytes'], blobRows, false)
      await also?.(tx)
      return ids
    })
  }

  /** Counts no further than `limit`. */
  async countReady(limit: number, { minModelVersion, now, maxId }: ClaimOptions): Promise<number> {
    const [row] = await this.db.query(
      `SELECT count(*) AS n FROM (SELECT 1 FROM ${this.#table} WHERE ready = 1 AND available_at <= ? AND model_version >= ? AND id <= ? LIMIT ?) AS t`,
      [now, minModelVersion ?? MIN_VERSION, maxId ?? MAX_ID, limit],
    )
    return Number(row.n)
  }

  /** Exactly `count` rows (`all`: or as many as there are), each to one caller only; undefined when there are fewer. */
  async claim(
    count: number,
    options: ClaimOptions & { all: boolean },
    next: NextPriority,
    before?: BeforeChange,
  ): Promise<Experience[] | undefined> {
    const { readInOrder, lockRows } = this.db.dialect
    return this.db.transaction(async (tx) => {
      if (readInOrder) await tx.query(readInOrder)
      const chosen = await tx.query(
        `SELECT ${STATE} FROM ${this.#table} WHERE ready = 1 AND available_at <= ? AND model_version >= ? AND id <= ?
         ORDER BY priority DESC, id LIMIT ? ${lockRows}`,
        [options.now, options.minModelVersion ?? MIN_VERSION, options.maxId ?? MAX_ID, count],
      )
      if (chosen.length < count && !options.all) return undefined
      if (chosen.length === 0) return []
      const ids = chosen.map((row) => Number(row.id))
      await before?.(tx, chosen)
      const experiences = await this.#load(tx, ids)
      for (const experience of experiences) experience.useCount++
      await this.#handOut(tx, ids, experiences, next)
      return experiences
    })
  }

  /** Rows that stand alike afterward are changed in one statement. */
  async #handOut(tx: Transaction, ids: number[], experiences: Experience[], next: NextPriority): Promise<void> {
    const groups = new Map<string, { ids: number[]; then: ReturnType<NextPriority> }>()
    experiences.forEach((experience, i) => {
      const then = next(experience)
      const key = then ? `${then.priority}/${then.availableAt}` : ''
      const group = groups.get(key)
      if (group) group.ids.push(ids[i])
      else groups.set(key, { ids: [ids[i]], then })
    })
    for (const { ids: alike, then } of groups.values()) {
      const where = this.db.dialect.idsIn('id', alike)
      await tx.query(
        `UPDATE ${this.#table} SET consumed = consumed + 1, ready = ?, priority = ?, available_at = ? WHERE ${where.sql}`,
        [then ? 1 : 0, then?.priority ?? 0, then?.availableAt ?? 0, where.value],
      )
    }
  }

  /** Rows of an older policy are never handed out again. Returns their number. */
  async discardOlder(version: number, before?: BeforeChange): Promise<number> {
    const where = `FROM ${this.#table} WHERE ready = 1 AND model_version < ?`
    const [some] = await this.db.query(`SELECT 1 AS one ${where} LIMIT 1`, [version])
    if (!some) return 0
    return this.db.transaction(async (tx) => {
      const old = await tx.query(`SELECT ${STATE} ${where} ${this.db.dialect.lockRows}`, [version])
      await before?.(tx, old)
      const ids = this.db.dialect.idsIn(
        'id',
        old.map((row) => Number(row.id)),
      )
      await tx.query(`UPDATE ${this.#table} SET ready = 0 WHERE ${ids.sql}`, [ids.value])
      return old.length
    })
  }

  load(ids: readonly number[]): Promise<Experience[]> {
    return this.#load(this.db, ids)
  }

  async #load(on: Pick<Transaction, 'query'>, ids: readonly number[]): Promise<Experience[]> {
    const where = this.db.dialect.idsIn('m.id', ids)
    const rows = await on.query(
      `SELECT ${STORED} FROM ${this.#table} AS m JOIN ${this.#blobs} AS b ON b.id = m.id WHERE ${where.sql}`,
      [where.value],
    )
    const byId = new Map(rows.map((row) => [Number(row.id), row]))
    const breathe = breather()
    const experiences: Experience[] = []
    for (const id of ids) {
      const row = byId.get(id)
      const at = `${this.db.where}, table ${this.name}, id ${id}`
      if (!row) throw new TrinityError('buffer/lost', `${at}: there is no such row`, { path: at })
      experiences.push(fromRow(row, at))
      await breathe()
    }
    return experiences
  }

  /** These rows will not be handed out any more; `uses` more have been made of them. */
  setAside(ids: readonly number[], uses: number): Promise<void> {
    const where = this.db.dialect.idsIn('id', ids)
    return this.db.transaction(async (tx) => {
      const change = `consumed = consumed + ${uses}, ready = 0`
      await tx.query(`UPDATE ${this.#table} SET ${change} WHERE ${where.sql}`, [where.value])
    })
  }

  async counts(now: number): Promise<{ ready: number; cooling: number }> {
    const [row] = await this.db.query(
      `SELECT count(*) AS n, coalesce(sum(CASE WHEN available_at > ? THEN 1 ELSE 0 END), 0) AS cooling
       FROM ${this.#table} WHERE ready = 1`,
      [now],
    )
    return { ready: Number(row.n) - Number(row.cooling), cooling: Number(row.cooling) }
  }

  async lastId(): Promise<number> {
    const [row] = await this.db.query(`SELECT coalesce(max(id), 0) AS id FROM ${this.#table}`)
    return Number(row.id)
  }

  async cut(tx: Transaction): Promise<TableCut> {
    const [last] = await tx.query(`SELECT coalesce(max(id), 0) AS id FROM ${this.#table}`)
    const rows = await tx.query(`SELECT ${STATE} FROM ${this.#table} WHERE ready = 1 ORDER BY id`)
    const ready = rows.map((row) => ({
      id: Number(row.id),
      consumed: Number(row.consumed),
      priority: Number(row.priority),
      availableAt: Number(row.available_at),
    }))
    return { lastId: Number(last.id), ready }
  }

  /** Gives the number of rows behind the cut that were removed. */
  restore(cut: TableCut, also?: (tx: Transaction) => Promise<void>): Promise<number> {
    return this.db.transaction(async (tx) => {
      const [after] = await tx.query(`SELECT count(*) AS n FROM ${this.#table} WHERE id > ?`, [cut.lastId])
      await tx.query(`DELETE FROM ${this.#blobs} WHERE id > ?`, [cut.lastId])
      await tx.query(`DELETE FROM ${this.#table} WHERE id > ?`, [cut.lastId])
      await tx.query(`UPDATE ${this.#table} SET ready = 0 WHERE ready = 1`)
      await this.setReady(tx, cut.ready)
      const [back] = await tx.query(`SELECT count(*) AS n FROM ${this.#table} WHERE ready = 1`)
      if (Number(back.n) !== cut.ready.length) {
        const missing = cut.ready.length - Number(back.n)
        throw new TrinityError('buffer/cut', `${missing} experiences of the checkpoint are not in ${this.db.where}`, {
          path: this.db.where,
          hint: 'the database was replaced after the checkpoint; delete the job folder to start over',
        })
      }
      await also?.(tx)
      return Number(after.n)
    })
  }

  /** Makes rows available in the given state. Rows of equal state are changed in one statement. */
  async setReady(tx: Transaction, ready: readonly ReadyRow[]): Promise<void> {
    const groups = new Map<string, ReadyRow[]>()
    for (const row of ready) {
      const key = `${row.consumed}/${row.priority}/${row.availableAt}`
      const group = groups.get(key)
      if (group) group.push(row)
      else groups.set(key, [row])
    }
    for (const rows of groups.values()) {
      const { consumed, priority, availableAt } = rows[0]
      const where = this.db.dialect.idsIn(
        'id',
        rows.map((row) => row.id),
      )
      await tx.query(
        `UPDATE ${this.#table} SET ready = 1, consumed = ?, priority = ?, available_at = ? WHERE ${where.sql}`,
        [consumed, priority ?? 0, availableAt ?? 0, where.value],
      )
    }
  }

  close(): Promise<void> {
    return this.db.close()
  }
}

/** Columns that taking a row changes. */
const STATE = 'id, consumed, priority, available_at'

const MIN_VERSION = -(2 ** 31)
const MAX_ID = Number.MAX_SAFE_INTEGER
