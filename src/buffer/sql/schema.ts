import type { Database, DatabaseRow, DatabaseValue, Dialect, Transaction } from '../../base/database/database.js'
import { quoted } from '../../base/database/names.js'
import { TrinityError } from '../../base/error.js'
import { decodeExperience, encodeExperience } from '../../experience/binary.js'
import type { Experience, Message } from '../../experience/experience.js'

/** What a person can read in the table stands there alone, and is left out of the bytes. */
const READABLE = new Set(['prompt_text', 'response_text', 'messages', 'use_count'])
/** No database tool agrees on U+0000 in a text: such a text stays in the bytes, and the column shows it without. */
const WITH_NUL = new Set(['messages', 'use_count'])

export const COLUMNS = [
  'batch_id',
  'task_id',
  'run_id',
  'step_id',
  'msg_id',
  'type',
  'model_version',
  'reward',
  'consumed',
  'ready',
  'priority',
  'available_at',
  'truncate_status',
  'failure',
  'prompt_text',
  'response_text',
  'messages',
]

/** Columns from which `fromRow` makes an experience, of a table `m` and the table `b` of its bytes. */
export const STORED = 'm.id, m.reward, m.consumed, m.prompt_text, m.response_text, m.messages, b.experience_bytes'

export async function createTables({ dialect, where, transaction, query }: Database, name: string): Promise<void> {
  const table = quoted(name)
  const tables = await query(dialect.listTables)
  if (tables.some((row) => row.name === name)) {
    await query(`SELECT ${COLUMNS.join(', ')} FROM ${table} LIMIT 0`).catch((cause) => {
      throw new TrinityError(
        'buffer/schema',
        `table ${name} in ${where} has different columns than this version uses`,
        {
          path: where,
          hint: 'it was made by another program or version: use another file or another buffer name',
          cause,
        },
      )
    })
    return
  }
  await transaction(async (tx) => {
    if (dialect.lockSchema) await tx.query(dialect.lockSchema)
    await tx.query(
      `CREATE TABLE IF NOT EXISTS ${table} (
        id ${dialect.serial},
        created_at ${dialect.now},
        batch_id TEXT NOT NULL,
        task_id TEXT NOT NULL,
        run_id INTEGER NOT NULL,
        step_id INTEGER NOT NULL,
        msg_id TEXT NOT NULL,
        type TEXT NOT NULL,
        model_version INTEGER NOT NULL,
        reward ${dialect.real},
        consumed INTEGER NOT NULL DEFAULT 0,
        ready INTEGER NOT NULL DEFAULT 1,
        priority ${dialect.real} NOT NULL DEFAULT 0,
        available_at ${dialect.real} NOT NULL DEFAULT 0,
        truncate_status TEXT,
        failure TEXT,
        prompt_text TEXT,
        response_text TEXT,
        messages TEXT
      )`,
    )
    await tx.query(
      `CREATE TABLE IF NOT EXISTS ${quoted(`${name}_blob`)} (id ${dialect.key}, experience_bytes ${dialect.blob} NOT NULL)`,
    )
    await packQuickly(tx, dialect, [
      ...['prompt_text', 'response_text', 'messages'].map((column) => [table, column] as const),
      [quoted(`${name}_blob`), 'experience_bytes'],
    ])
    const index = quoted(`${name}_ready`)
    await tx.query(`CREATE INDEX IF NOT EXISTS ${index} ON ${table} (priority DESC, id) WHERE ready = 1`)
    await tx.query(`CREATE INDEX IF NOT EXISTS ${quoted(`${name}_version`)} ON ${table} (model_version)`)
    await tx.query(`CREATE INDEX IF NOT EXISTS ${quoted(`${name}_task`)} ON ${table} (task_id)`)
  })
}

/** PostgreSQL's own way of packing takes more than half of its time for a put, and makes the rows a tenth smaller than lz4. */
async function packQuickly(
  tx: Transaction,
  { listPackings }: Dialect,
  columns: readonly (readonly [table: string, column: string])[],
): Promise<void> {
  const ways = listPackings ? await tx.query(listPackings) : []
  if (!ways.some(({ name }) => name === 'lz4')) return
  for (const [table, column] of columns) {
    await tx.query(`ALTER TABLE ${table} ALTER COLUMN ${column} SET COMPRESSION lz4`)
  }
}

/** In the order of COLUMNS. Without a priority the row is stored, but never handed out. */
export function toRow(experience: Experience, priority: number | undefined): DatabaseValue[] {
  const { eid, reward } = experience
  return [
    String(eid.batch),
    String(eid.task),
    eid.run,
    eid.step,
    eid.suffix,
    experience.type,
    experience.modelVersion,
    // A database has no NaN that every tool can read; the bytes keep it.
    reward === undefined || Number.isNaN(reward) ? null : reward,
    experience.useCount,
    priority === undefined ? 0 : 1,
    priority ?? 0,
    0,
    experience.truncateStatus ?? null,
    experience.failure ? text(`${experience.failure.reason}: ${experience.failure.message}`) : null,
    text(experience.promptText),
    text(experience.responseText),
    experience.messages ? text(JSON.stringify(experience.messages)) : null,
  ]
}

function text(value: string | undefined): string | null {
  if (value === undefined) return null
  return value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value
}

export function toBlob(experience: Experience): Buffer {
  const nul = experience.promptText?.includes('\0') || experience.responseText?.includes('\0')
  const bytes = encodeExperience(experience, { omit: nul ? WITH_NUL : READABLE })
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** The reward in the table wins over the one in the bytes: a person may correct it. */
export function fromRow(row: DatabaseRow, where: string): Experience {
  const experience = decodeExperience(row.experience_bytes as Uint8Array, where)
  if (row.reward !== null) experience.reward = Number(row.reward)
  else if (!Number.isNaN(experience.reward ?? 0)) delete experience.reward
  if (row.prompt_text !== null) experience.promptText ??= row.prompt_text as string
  if (row.response_text !== null) experience.responseText ??= row.response_text as string
  if (row.messages !== null) experience.messages ??= messages(row.messages as string, where)
  experience.useCount = Number(row.consumed)
  return experience
}

function messages(json: string, where: string): Message[] {
  try {
    return JSON.parse(json) as Message[]
  } catch (cause) {
    throw new TrinityError('experience/corrupt', `${where}: column messages is not JSON`, { path: where, cause })
  }
}
