import { type DatabaseRow, type DatabaseValue, openDatabase, type Transaction } from '../base/database/database.js'
import { quoted } from '../base/database/names.js'
import { TrinityError } from '../base/error.js'
import { claimJob } from '../buffer/sql/job.js'
import { type Retry, retrying } from '../buffer/sql/retry.js'
import { ExperienceTable } from '../buffer/sql/table.js'
import type { Experience } from '../experience/index.js'
import type { Feedback } from './feedback.js'

/** As tools that read it know it. */
export const PROXY_HISTORY = 'proxy_history'
const RETRY: Retry = { times: 5, intervalMs: 200 }
/** Ids that stand in one statement. */
const AT_ONCE = 500
/** Rows that one transaction deletes: those who record answers wait for it. */
const DELETED_AT_ONCE = 1000
/** Ids that an error names. */
const SHOWN = 3

export interface HistoryOptions {
  /** Name of the explorer: several may share a history, and each finishes its own commits. */
  readonly who?: string
  readonly job?: string
  /** Told when the server of the database is away for a while. */
  readonly onAway?: (message: string) => void
}

interface Writing {
  readonly experiences: readonly Experience[]
  resolve(): void
  reject(error: unknown): void
}

/**
 * Table of the answers of a server: one row for each, under the id of the reply. A row waits for its feedback
 * (`consumed` 0), then for a commit (`ready` 1, with the number of the commit once one has begun), and then stays as it is.
 * Whatever was confirmed survives the death of the process. Rows without feedback can be deleted by age (`expire`).
 */
export class History {
  readonly #table: ExperienceTable
  readonly #name: string
  readonly #who: string
  #waiting: Writing[] = []
  #writing: Promise<void> | undefined
  #total: number
  #rated: number

  private constructor(table: ExperienceTable, who: string, total: number, rated: number) {
    this.#table = table
    // in the name of a commit it ends with a colon
    this.#who = encodeURIComponent(who)
    this.#name = quoted(table.name)
    this.#total = total
    this.#rated = rated
  }

  static async open(url: string, { who = 'explorer', job, onAway }: HistoryOptions = {}): Promise<History> {
    const db = await openDatabase(url, onAway)
    try {
      await claimJob(db, job)
      const table = await ExperienceTable.open(db, PROXY_HISTORY)
      const name = quoted(table.name)
      await db.transaction((tx) =>
        tx.query(`CREATE INDEX IF NOT EXISTS ${quoted(`${table.name}_msg`)} ON ${name} (msg_id)`),
      )
      const [row] = await db.query(`SELECT count(*) AS total, coalesce(sum(consumed), 0) AS rated FROM ${name}`)
      return new History(table, who, Number(row.total), Number(row.rated))
    } catch (error) {
      await db.close()
      throw error
    }
  }

  /** Number of recorded answers that were not withdrawn or deleted. */
  get total(): number {
    return this.#total
  }

  /** Of these, the ones that have feedback. */
  get rated(): number {
    return this.#rated
  }

  /** Resolves when the answers are stored. Those that come while others are being written are written together. */
  record(experiences: readonly Experience[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ experiences, resolve, reject })
      this.#writing ??= this.#write()
    })
  }

  async #write(): Promise<void> {
    for (let batch = this.#waiting.splice(0); batch.length > 0; batch = this.#waiting.splice(0)) {
      const all = batch.flatMap(({ experiences }) => experiences)
      try {
        // Without a priority nobody is handed them.
        await this.#retrying(() =>
          this.#table.insert(
            all,
            all.map(() => undefined),
          ),
        )
        this.#total += all.length
        for (const { resolve } of batch) resolve()
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    this.#writing = undefined
  }

  /** Takes back answers that did not reach whoever asked for them. */
  async withdraw(ids: readonly string[]): Promise<void> {
    // one of them may be on its way into the table
    await this.#writing
    const gone = await this.#transaction(async (tx) => {
      return this.#delete(tx, await this.#find(tx, ids))
    })
    this.#total -= gone
  }

  /** Deletes answers without feedback that are older than `seconds`. Returns their number. */
  async expire(seconds: number): Promise<number> {
    const { olderThan, lockRows } = this.#table.db.dialect
    const { sql, value } = olderThan('created_at', seconds)
    const oldest = `SELECT id FROM ${this.#name} WHERE consumed = 0 AND ${sql} ORDER BY id LIMIT ? ${lockRows}`
    let all = 0
    for (let gone = DELETED_AT_ONCE; gone === DELETED_AT_ONCE; all += gone) {
      gone = await this.#transaction(async (tx) => this.#delete(tx, await tx.query(oldest, [value, DELETED_AT_ONCE])))
      this.#total -= gone
    }
    return all
  }

  /**
   * Notes what answers were worth. Feedback counts once: an answer that has some already keeps it. Where one of the ids is
   * not known, nothing is changed.
   */
  async rate({ reward, ids, task, run }: Feedback): Promise<{ rated: number; before: number }> {
    const noted = await this.#transaction(async (tx) => {
      const found = await this.#find(tx, ids)
      const known = new Set(found.map(({ msg_id }) => msg_id))
      const strange = ids.filter((id) => !known.has(id))
      if (strange.length > 0) throw unknown(strange)
      const { sql, value } = this.#rows(found)
      const set = 'reward = ?, task_id = ?, run_id = ?, consumed = 1, ready = 1'
      const values = [reward, task, run, value]
      const now = await tx.query(`UPDATE ${this.#name} SET ${set} WHERE ${sql} AND consumed = 0 RETURNING id`, values)
      return { rated: now.length, before: found.length - now.length }
    })
    this.#rated += noted.rated
    return noted
  }

  /** Everything that has feedback and was not committed, under the number of a commit. */
  async begin(commit: number): Promise<Experience[]> {
    const own = this.#commitName('')
    const rows = await this.#transaction(async (tx) => {
      const marked = await tx.query(
        `UPDATE ${this.#name} SET batch_id = ? WHERE ready = 1 AND (batch_id = '' OR substr(batch_id, 1, ?) = ?)
         RETURNING id`,
        [this.#commitName(commit), own.length, own],
      )
      const { sql, value } = this.#rows(marked)
      return tx.query(`SELECT id, task_id, run_id FROM ${this.#name} WHERE ${sql} ORDER BY id`, [value])
    })
    const experiences = await this.#table.load(rows.map(({ id }) => Number(id)))
    const steps = new Map<string, number>()
    for (const [i, experience] of experiences.entries()) {
      const [task, run] = [String(rows[i].task_id), Number(rows[i].run_id)]
      const key = `${run}/${task}`
      const step = steps.get(key) ?? 0
      steps.set(key, step + 1)
      Object.assign(experience.eid, { batch: commit, task, run, step })
      // `consumed` counts feedback here, and uses elsewhere
      experience.useCount = 0
    }
    return experiences
  }

  /** What has this number is with the trainer. */
  async end(commit: number): Promise<void> {
    const name = this.#commitName(commit)
    await this.#transaction((tx) =>
      tx.query(`UPDATE ${this.#name} SET ready = 0 WHERE ready = 1 AND batch_id = ?`, [name]),
    )
  }

  async close(): Promise<void> {
    await this.#writing
    await this.#table.db.flush()
    await this.#table.close()
  }

  async #delete(tx: Transaction, found: readonly DatabaseRow[]): Promise<number> {
    const { sql, value } = this.#rows(found)
    const rows = await tx.query(`DELETE FROM ${this.#name} WHERE ${sql} AND consumed = 0 RETURNING id`, [value])
    const blobs = this.#rows(rows)
    await tx.query(`DELETE FROM ${quoted(`${this.#table.name}_blob`)} WHERE ${blobs.sql}`, [blobs.value])
    return rows.length
  }

  #commitName(commit: number | ''): string {
    return `${this.#who}:${commit}`
  }

  async #find(tx: Transaction, ids: readonly string[]): Promise<DatabaseRow[]> {
    const found: DatabaseRow[] = []
    for (let at = 0; at < ids.length; at += AT_ONCE) {
      const some = ids.slice(at, at + AT_ONCE)
      const places = some.map(() => '?').join(', ')
      found.push(...(await tx.query(`SELECT id, msg_id FROM ${this.#name} WHERE msg_id IN (${places})`, some)))
    }
    return found
  }

  #rows(rows: readonly DatabaseRow[]): { sql: string; value: DatabaseValue } {
    const ids = rows.map(({ id }) => Number(id))
    return this.#table.db.dialect.idsIn('id', ids)
  }

  #transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#retrying(() => this.#table.db.transaction(work))
  }

  #retrying<T>(work: () => Promise<T>): Promise<T> {
    return retrying(RETRY, this.#table.db.where, work)
  }
}

function unknown(ids: readonly string[]): TrinityError {
  const shown = ids.slice(0, SHOWN).map((id) => `'${id}'`)
  const more = ids.length > SHOWN ? ` and ${ids.length - SHOWN} more` : ''
  return new TrinityError('serve/unknown-message', `no answer has the id ${shown.join(', ')}${more}`, {
    path: 'msg_ids',
    hint: 'give the id of each reply, as the client got it, after its end and within explorer.proxy_history_days; nothing was changed',
  })
}
