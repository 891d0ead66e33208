import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import type Libsql from 'libsql'
import { libsql } from '../../base/database/libsql.js'
import { checkSchema, prepareRead, type ReadRows } from '../../base/database/read-rows.js'
import { messageOf, TrinityError } from '../../base/error.js'
import { openDataFile } from '../../task/source/open-file.js'
import { buildMailbox } from './build.js'
import { type Email, emailOf } from './email.js'

/** Larger files of mails are made a database of once. */
const SMALL_BYTES = 64 << 20
const MOST_FOUND = 10

export interface Found {
  readonly message_id: string
  readonly snippet: string
}

/** What is looked for: mails from or to an address, before a day, in which all keywords stand. */
export interface Search {
  readonly inbox: string
  readonly keywords: readonly string[]
  /** `YYYY-MM-DD`; the day itself is not part of it. */
  readonly before: string
}

const FIND = `SELECT e.message_id AS message_id, snippet(emails_fts, -1, '<b>', '</b>', ' ... ', 15) AS snippet
FROM emails e JOIN emails_fts fts ON e.id = fts.rowid
WHERE emails_fts MATCH ? AND (e.from_address = ? OR EXISTS
  (SELECT 1 FROM recipients r WHERE r.recipient_address = ? AND r.email_id = e.id))
AND e.date < ? ORDER BY e.date DESC, e.id LIMIT ${MOST_FOUND}`

/** An indexed mailbox of many people. It is only read. */
export class Mailbox {
  readonly #find: ReadRows
  readonly #read: ReadRows
  readonly #recipients: ReadRows

  constructor(db: Libsql.Database, path: string) {
    const prepare = (sql: string) => prepareRead(db, sql, path)
    this.#find = prepare(FIND)
    this.#read = prepare(
      'SELECT id, message_id, date, subject, from_address, body, file_name FROM emails WHERE message_id = ?',
    )
    this.#recipients = prepare(
      'SELECT recipient_address AS address, lower(recipient_type) AS kind FROM recipients WHERE email_id = ? ORDER BY rowid',
    )
  }

  /** The latest first. */
  search({ inbox, keywords, before }: Search): Found[] {
    // Quoted, a keyword is text for the index, whatever stands in it.
    const query = keywords.map((keyword) => `"${keyword.replaceAll('"', '""').replaceAll('\0', '')}"`).join(' ')
    const rows = this.#find([query, inbox, inbox, `${before} 00:00:00`]) as unknown as Found[]
    return rows.map(({ message_id, snippet }) => ({ message_id, snippet }))
  }

  read(messageId: string): Email | undefined {
    const [row] = this.#read([messageId]) as unknown as (Email & { id: number })[]
    if (row === undefined) return undefined
    const all = this.#recipients([row.id]) as { address: string; kind: string }[]
    const of = (kind: string) => all.filter((one) => one.kind === kind).map(({ address }) => address)
    const { message_id, date, subject, from_address, body, file_name } = row
    const to = { to_addresses: of('to'), cc_addresses: of('cc'), bcc_addresses: of('bcc') }
    return { message_id, date, subject, from_address, ...to, body, file_name }
  }
}

/** Mailboxes that are open, by path: all episodes read the same. */
const open = new Map<string, Promise<Mailbox>>()

/** A database of mails, or a file with a mail in each row. */
export function openMailbox(given: string | undefined): Promise<Mailbox> {
  const path = given?.replace(/^~(?=\/|$)/, homedir())
  if (path === undefined || path === '') return Promise.reject(missing(path))
  const known = open.get(path) ?? readMailbox(path)
  open.set(path, known)
  // What failed is tried again: the file may be right next time.
  known.catch(() => open.delete(path))
  return known
}

/** Opens a mailbox that is not shared. */
export async function readMailbox(path: string): Promise<Mailbox> {
  // the driver would create the file
  if (!existsSync(path)) throw missing(path)
  if (/\.(db|sqlite3?)$/.test(path)) return new Mailbox(openDatabase(path), path)
  const { size } = await stat(path)
  if (size > SMALL_BYTES) {
    throw new TrinityError('environment/data', `${path} is too large to be indexed for every run`, {
      path,
      hint: `make a database of it once: trinity data email_search --mails ${path}`,
    })
  }
  return new Mailbox((await buildMailbox(':memory:', emailsIn(path))).db, path)
}

/** The mails of a file. */
export async function* emailsIn(path: string): AsyncIterable<Email> {
  if (!existsSync(path)) throw missing(path)
  const source = await openDataFile(path)
  try {
    let number = 0
    for await (const row of source.scan()) yield emailOf(row, `${path}, mail ${++number}`)
  } finally {
    await source.close()
  }
}

function openDatabase(path: string): Libsql.Database {
  try {
    const db = new (libsql())(path, { readonly: true } as object)
    checkSchema(db, path)
    db.prepare('SELECT count(*) FROM emails_fts JOIN recipients ON 0 JOIN emails ON 0').all()
    return db
  } catch (cause) {
    throw new TrinityError('environment/data', `${path} is no database of mails: ${messageOf(cause)}`, {
      path,
      hint: 'it needs the tables emails, recipients and emails_fts; trinity data email_search makes them of a file of mails',
      cause,
    })
  }
}

function missing(path: string | undefined): TrinityError {
  const what = path ? `there is no ${path}` : 'email_search does not know where its mails are'
  return new TrinityError('environment/data', what, {
    path: path || 'environment_args.database',
    hint: "name a database or a file of mails with 'database', or with the variable DEFAULT_EMAIL_DB_PATH; trinity data email_search makes a small one to begin with",
  })
}
