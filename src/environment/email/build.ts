import { setImmediate } from 'node:timers/promises'
import type Libsql from 'libsql'
import { libsql } from '../../base/database/libsql.js'
import type { Email } from './email.js'

/** The tables of the original, so that its databases are read, and it reads ours. */
const TABLES = `
CREATE TABLE emails (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT UNIQUE, subject TEXT, from_address TEXT, date TEXT, body TEXT, file_name TEXT);
CREATE TABLE recipients (email_id INTEGER REFERENCES emails (id) ON DELETE CASCADE, recipient_address TEXT, recipient_type TEXT);`
/** At the end: an index that grows with every row takes longer. */
const INDEXES = `
CREATE INDEX idx_emails_from ON emails (from_address);
CREATE INDEX idx_emails_date ON emails (date);
CREATE INDEX idx_recipients_email_id ON recipients (email_id);
CREATE INDEX idx_recipients_address_email ON recipients (recipient_address, email_id);
CREATE VIRTUAL TABLE emails_fts USING fts5 (subject, body, content='emails', content_rowid='id');
INSERT INTO emails_fts (rowid, subject, body) SELECT id, subject, body FROM emails;`

/** The original leaves out long mails and those to many. */
const LONGEST_BODY = 5000
const MOST_RECIPIENTS = 30
const BATCH = 5000

export interface Built {
  readonly kept: number
  /** Too long, to too many people, or the same as another. */
  readonly skipped: number
}

/** Writes mails into a new database, and makes its index. `path`: a file, or `:memory:`. */
export async function buildMailbox(
  path: string,
  emails: Iterable<Email> | AsyncIterable<Email>,
  signal?: AbortSignal,
): Promise<{ db: Libsql.Database; built: Built }> {
  const db = new (libsql())(path)
  db.exec(`PRAGMA journal_mode = ${path === ':memory:' ? 'MEMORY' : 'DELETE'}; PRAGMA synchronous = OFF;${TABLES}`)
  const addEmail = db.prepare(
    'INSERT OR IGNORE INTO emails (message_id, subject, from_address, date, body, file_name) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const addRecipient = db.prepare('INSERT INTO recipients VALUES (?, ?, ?)')
  const seen = new Set<string>()
  let [kept, skipped] = [0, 0]
  db.exec('BEGIN')
  for await (const email of emails) {
    if (!isWanted(email, seen)) skipped++
    else if (addTo(email)) kept++
    else skipped++
    if ((kept + skipped) % BATCH === 0) {
      await setImmediate()
      signal?.throwIfAborted()
    }
  }
  db.exec(`COMMIT;${INDEXES}`)
  return { db, built: { kept, skipped } }

  function addTo({ message_id, subject, from_address, date, body, file_name, ...to }: Email): boolean {
    const { changes, lastInsertRowid } = addEmail.run([message_id, subject, from_address, date, body, file_name])
    if (changes === 0) return false
    const kinds = [
      ['to', to.to_addresses],
      ['cc', to.cc_addresses],
      ['bcc', to.bcc_addresses],
    ] as const
    for (const [kind, addresses] of kinds) for (const one of addresses) addRecipient.run([lastInsertRowid, one, kind])
    return true
  }
}

function isWanted({ subject, body, from_address, ...to }: Email, seen: Set<string>): boolean {
  const recipients = to.to_addresses.length + to.cc_addresses.length + to.bcc_addresses.length
  if ((body?.length ?? 0) > LONGEST_BODY || recipients > MOST_RECIPIENTS) return false
  const key = JSON.stringify([subject, body, from_address])
  if (seen.has(key)) return false
  seen.add(key)
  return true
}
