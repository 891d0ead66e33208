import type { Database, DatabaseRow, Transaction } from '../../base/database/database.js'
import type { ReadyRow } from './table.js'

/** Compact form of a `ReadyRow`: id, uses, priority, end of the cool-down. */
type JournaledRow = [id: number, consumed: number, priority: number, availableAt: number]

type Tx = Pick<Transaction, 'query'>

/** Creates the table of all journals of a database. */
export async function createTakes(tx: Tx, { serial }: Database['dialect']): Promise<void> {
  await tx.query(
    `CREATE TABLE IF NOT EXISTS trinity_takes (
      id ${serial}, buffer TEXT NOT NULL, step INTEGER NOT NULL, before_take TEXT NOT NULL
    )`,
  )
}

/**
 * Undo log of one buffer: the state of each row before a training step took or discarded it. A trainer that resumes from
 * an older step makes these rows available again. Entries are never pruned, because a damaged checkpoint sends the trainer
 * back to an older one; an entry has about 20 bytes per row.
 */
export class TakeJournal {
  readonly #buffer: string

  constructor(buffer: string) {
    this.#buffer = buffer
  }

  /** Records rows that are about to change, as selected from their table. */
  async add(tx: Tx, step: number, rows: readonly DatabaseRow[]): Promise<void> {
    if (rows.length === 0) return
    const before = rows.map(
      (row): JournaledRow => [Number(row.id), Number(row.consumed), Number(row.priority), Number(row.available_at)],
    )
    await tx.query('INSERT INTO trinity_takes (buffer, step, before_take) VALUES (?, ?, ?)', [
      this.#buffer,
      step,
      JSON.stringify(before),
    ])
  }

  /** Removes the entries of later steps. Returns each of their rows as it was before the first of them. */
  async removeAfter(tx: Tx, step: number): Promise<ReadyRow[]> {
    const entries = await tx.query(
      'SELECT before_take FROM trinity_takes WHERE buffer = ? AND step > ? ORDER BY id DESC',
      [this.#buffer, step],
    )
    const rows = new Map<number, ReadyRow>()
    for (const { before_take } of entries) {
      for (const [id, consumed, priority, availableAt] of JSON.parse(before_take as string) as JournaledRow[]) {
        rows.set(id, { id, consumed, priority, availableAt })
      }
    }
    await tx.query('DELETE FROM trinity_takes WHERE buffer = ? AND step > ?', [this.#buffer, step])
    return [...rows.values()]
  }

  /** Returns the id of the newest entry; 0 if there is none. */
  async lastId(tx: Tx): Promise<number> {
    const [row] = await tx.query('SELECT coalesce(max(id), 0) AS id FROM trinity_takes WHERE buffer = ?', [
      this.#buffer,
    ])
    return Number(row.id)
  }

  /** Removes entries that were made after `lastId` was read. */
  async truncate(tx: Tx, lastId: number): Promise<void> {
    await tx.query('DELETE FROM trinity_takes WHERE buffer = ? AND id > ?', [this.#buffer, lastId])
  }
}
