import type { Database, DatabaseValue, Transaction } from '../../base/database/database.js'
import { TrinityError } from '../../base/error.js'
import { createTakes } from './take-journal.js'

/** Where the job is at home that opens a database. */
export interface JobHome {
  /** Folder of the job, without links in it: two jobs of one name in two folders are two jobs. */
  readonly folder: string
  /** The database lies in that folder, so it has moved along with it. */
  readonly inside: boolean
}

/** A database belongs to one job, and knows who has written to it and how far each producer is. */
export async function claimJob(db: Database, job: string | undefined, home?: JobHome): Promise<void> {
  await db.transaction(async (tx) => {
    if (db.dialect.lockSchema) await tx.query(db.dialect.lockSchema)
    await tx.query('CREATE TABLE IF NOT EXISTS trinity_job (name TEXT PRIMARY KEY, folder TEXT)')
    await tx.query(
      `CREATE TABLE IF NOT EXISTS trinity_producers (
        buffer TEXT NOT NULL, producer TEXT NOT NULL, finished INTEGER NOT NULL, mark TEXT,
        PRIMARY KEY (buffer, producer)
      )`,
    )
    await createTakes(tx, db.dialect)
    if (job === undefined) return
    const [owner] = await tx.query('SELECT name FROM trinity_job')
    if (!owner) await tx.query('INSERT INTO trinity_job (name) VALUES (?)', [job])
    else if (owner.name !== job) {
      throw new TrinityError('buffer/other-job', `${db.where} belongs to job '${owner.name}', this is job '${job}'`, {
        path: db.where,
        hint: 'give each job its own database, or delete the file to start over',
      })
    }
    if (home) await claimHome(tx, db.where, job, home)
  })
}

async function claimHome(
  tx: Pick<Transaction, 'query'>,
  where: string,
  job: string,
  { folder, inside }: JobHome,
): Promise<void> {
  const [owner] = await tx.query('SELECT * FROM trinity_job')
  // earlier releases wrote down the name alone
  if (!('folder' in owner)) await tx.query('ALTER TABLE trinity_job ADD COLUMN folder TEXT')
  const known = owner.folder ?? null
  if (known === folder) return
  if (known === null || inside) {
    await tx.query('UPDATE trinity_job SET folder = ?', [folder])
    return
  }
  throw new TrinityError('buffer/other-job', `${where} belongs to job '${job}' in ${known}, this one is in ${folder}`, {
    path: where,
    hint: `give each job a database of its own. If the folder of the job has moved, and nothing works in the old one, take the database over: UPDATE trinity_job SET folder = '${folder.replaceAll("'", "''")}'`,
  })
}

/** Those who put into one buffer. */
export class Producers {
  readonly #buffer: string

  constructor(buffer: string) {
    this.#buffer = buffer
  }

  /** `mark` undefined: unchanged. */
  async note(tx: Pick<Transaction, 'query'>, producer: string, finished: boolean, mark?: unknown): Promise<void> {
    const values: DatabaseValue[] = [
      this.#buffer,
      producer,
      finished ? 1 : 0,
      mark === undefined ? null : JSON.stringify(mark),
    ]
    await tx.query(
      `INSERT INTO trinity_producers (buffer, producer, finished, mark) VALUES (?, ?, ?, ?)
       ON CONFLICT (buffer, producer) DO UPDATE
       SET finished = excluded.finished, mark = coalesce(excluded.mark, trinity_producers.mark)`,
      values,
    )
  }

  /** There are producers, and all of them have finished. */
  async allFinished(tx: Pick<Transaction, 'query'>): Promise<boolean> {
    const [row] = await tx.query(
      'SELECT count(*) AS n, coalesce(sum(finished), 0) AS done FROM trinity_producers WHERE buffer = ?',
      [this.#buffer],
    )
    return Number(row.n) > 0 && Number(row.n) === Number(row.done)
  }

  async save(tx: Pick<Transaction, 'query'>): Promise<SavedProducer[]> {
    const rows = await tx.query('SELECT producer, finished, mark FROM trinity_producers WHERE buffer = ?', [
      this.#buffer,
    ])
    return rows.map((row) => ({
      producer: String(row.producer),
      finished: Number(row.finished) === 1,
      mark: row.mark === null ? undefined : JSON.parse(row.mark as string),
    }))
  }

  async load(tx: Pick<Transaction, 'query'>, producers: readonly SavedProducer[]): Promise<void> {
    await tx.query('DELETE FROM trinity_producers WHERE buffer = ?', [this.#buffer])
    for (const { producer, finished, mark } of producers) await this.note(tx, producer, finished, mark)
  }
}

export interface SavedProducer {
  producer: string
  finished: boolean
  mark?: unknown
}
