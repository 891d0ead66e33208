/**
 * The program of a thread that runs SQL of anybody. SQLite is WebAssembly here: it has no way to files, processes or the
 * net, and its memory has a limit. A statement runs in a transaction that is always rolled back, after those that have
 * changed the tables in the same episode before: episodes share a database and never see each other.
 */
import { parentPort, workerData } from 'node:worker_threads'
import type init from '@sqlite.org/sqlite-wasm'
import type { mysqlFunctions as functions } from './mysql-functions.js'
import type { Answer, Base, Cell, Limits, Request } from './protocol.js'

type Sqlite = Awaited<ReturnType<typeof init>>
type Database = InstanceType<Sqlite['oo1']['DB']>
type Init = (options: { print(): void; printErr(): void }) => Promise<Sqlite>

/** Bytes of everything in this thread: databases, and what statements make. */
const HEAP = 256 << 20
/** Bytes of databases that are kept open. */
const KEPT = 96 << 20
/** Steps of the database that are counted at once. */
const STEPS = 5000

const urls = workerData as { sqlite: string; functions: string }
const { default: initialize } = (await import(urls.sqlite)) as { default: Init }
const { mysqlFunctions } = (await import(urls.functions)) as { mysqlFunctions: typeof functions }
// What is wrong with a statement is told to whoever wrote it, not to the terminal.
const silent = { debug() {}, log() {}, warn() {}, error() {} }
Object.assign(globalThis, { sqlite3ApiConfig: silent })
const { oo1, capi, wasm } = await initialize({ print() {}, printErr() {} })

/** What a statement may do beside reading and writing tables; everything else is refused. */
const ALLOWED = new Set<number>([
  ...[capi.SQLITE_SELECT, capi.SQLITE_READ, capi.SQLITE_RECURSIVE, capi.SQLITE_ANALYZE, capi.SQLITE_REINDEX],
  ...[capi.SQLITE_INSERT, capi.SQLITE_UPDATE, capi.SQLITE_DELETE, capi.SQLITE_ALTER_TABLE],
  ...[capi.SQLITE_CREATE_TABLE, capi.SQLITE_CREATE_INDEX, capi.SQLITE_CREATE_VIEW, capi.SQLITE_CREATE_TRIGGER],
  ...[capi.SQLITE_CREATE_TEMP_TABLE, capi.SQLITE_CREATE_TEMP_INDEX, capi.SQLITE_CREATE_TEMP_VIEW],
  ...[capi.SQLITE_DROP_TABLE, capi.SQLITE_DROP_INDEX, capi.SQLITE_DROP_VIEW, capi.SQLITE_DROP_TRIGGER],
  ...[capi.SQLITE_DROP_TEMP_TABLE, capi.SQLITE_DROP_TEMP_INDEX, capi.SQLITE_DROP_TEMP_VIEW],
])
/** What may be wrong with a statement that leaves its transaction as it was. */
const SOUND = new Set<number>([capi.SQLITE_ERROR, capi.SQLITE_AUTH, capi.SQLITE_TOOBIG])
const PRAGMAS = new Set(['table_info', 'table_xinfo', 'table_list', 'index_list', 'index_info', 'foreign_key_list'])
/** They tell what other episodes did, or something else each time. */
const REFUSED = new Set(['last_insert_rowid', 'changes', 'total_changes', 'randomblob'])

interface Open {
  readonly db: Database
  readonly bytes: number
}
const bases = new Map<string, Base>()
const opened = new Map<string, Open>()
/** Whether what runs now was written by somebody else, how many steps it has left, and which numbers it draws. */
const now = { foreign: false, steps: 0, seed: 0 }

parentPort?.on('message', (request: Request) => {
  if (request.open) bases.set(request.open.key, request.open)
  parentPort?.postMessage(answer(request))
})

function answer(request: Request): Answer {
  let db: Database
  try {
    db = databaseOf(request.base)
  } catch (error) {
    return { kind: 'broken', message: messageOf(error) }
  }
  let isSound = true
  try {
    db.exec('BEGIN')
    for (const [i, earlier] of request.journal.entries()) execute(db, earlier, i, request.limits)
    return execute(db, request.sql, request.journal.length, request.limits)
  } catch (error) {
    isSound = SOUND.has((error as { resultCode?: number }).resultCode ?? -1)
    return { kind: 'error', message: messageOf(error) }
  } finally {
    // Memory that ran out, or a statement that was stopped, may have ended the transaction: nothing of it may stay.
    if (!isSound || !rolledBack(db)) close(request.base)
  }
}

function rolledBack(db: Database): boolean {
  try {
    db.exec('ROLLBACK')
    return true
  } catch {
    return false
  }
}

function execute(db: Database, sql: string, number: number, limits: Limits): Answer {
  now.foreign = true
  now.seed = number + 1
  now.steps = limits.steps
  let statement: ReturnType<Database['prepare']> | undefined
  try {
    statement = db.prepare(sql)
    const { columnCount } = statement
    const changes = !capi.sqlite3_stmt_readonly(statement)
    const rows: Cell[][] = []
    let characters = 0
    while (statement.step()) {
      const row = Array.from({ length: columnCount }, (_, i) => cell(statement as NonNullable<typeof statement>, i))
      for (const value of row) characters += typeof value === 'string' || value instanceof Uint8Array ? value.length : 8
      rows.push(row)
      if (rows.length > limits.rows) return { kind: 'error', message: `it gives more than ${limits.rows} rows` }
      if (characters > limits.characters) return { kind: 'error', message: 'it gives more text than can be shown' }
    }
    return columnCount > 0 ? { kind: 'done', rows, changes } : { kind: 'done', changes }
  } finally {
    statement?.finalize()
    now.foreign = false
  }
}

function cell(statement: ReturnType<Database['prepare']>, column: number): Cell {
  const type = capi.sqlite3_column_type(statement, column)
  if (type === capi.SQLITE_INTEGER) return capi.sqlite3_column_int64(statement.pointer as number, column)
  return statement.get(column) as Cell
}

/** The open database of a base; it is the last to be closed. */
function databaseOf(key: string): Database {
  const { db, bytes } = opened.get(key) ?? make(bases.get(key) as Base)
  opened.delete(key)
  opened.set(key, { db, bytes })
  return db
}

function make(base: Base): Open {
  const room = KEPT - (base.bytes?.byteLength ?? 0)
  for (const oldest of [...opened.keys()]) {
    if ([...opened.values()].reduce((sum, { bytes }) => sum + bytes, 0) <= room) break
    close(oldest)
  }
  const db = new oo1.DB(':memory:')
  try {
    db.exec(`PRAGMA hard_heap_limit = ${HEAP}`)
    if (base.bytes) load(db, new Uint8Array(base.bytes))
    // As the tasks need it, which write texts in double quotes.
    capi.sqlite3_db_config(db, capi.SQLITE_DBCONFIG_DQS_DML, 1, 0)
    if (base.setup !== undefined) db.exec(base.setup)
    addSchema(db, base.name)
    guard(db)
    const pages = Number(db.selectValue('PRAGMA page_count')) * Number(db.selectValue('PRAGMA page_size'))
    const made = { db, bytes: pages }
    opened.set(base.key, made)
    return made
  } catch (error) {
    db.close()
    throw error
  }
}

function load(db: Database, bytes: Uint8Array): void {
  const copy = bytes.slice()
  // A file with a write-ahead log says so here; there is no log in memory.
  if (copy[18] === 2) copy[18] = copy[19] = 1
  const flags = capi.SQLITE_DESERIALIZE_FREEONCLOSE | capi.SQLITE_DESERIALIZE_RESIZEABLE
  const size = copy.byteLength
  const at = wasm.allocFromTypedArray(copy)
  db.checkRc(capi.sqlite3_deserialize(db, 'main', at, size, size, flags))
  db.selectValue('SELECT count(*) FROM sqlite_master')
}

/** Where models that know MySQL look for tables. */
function addSchema(db: Database, name: string): void {
  const schema = `'${name.replaceAll("'", "''")}' AS table_schema`
  const tables = `pragma_table_list AS t WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite~_%' ESCAPE '~'`
  db.exec(`ATTACH ':memory:' AS information_schema;
    CREATE VIEW information_schema.tables AS SELECT ${schema}, t.name AS table_name,
      iif(t.type = 'view', 'VIEW', 'BASE TABLE') AS table_type FROM ${tables};
    CREATE VIEW information_schema.columns AS SELECT ${schema}, t.name AS table_name, c.name AS column_name,
      c.cid + 1 AS ordinal_position, c.dflt_value AS column_default, iif(c."notnull", 'NO', 'YES') AS is_nullable,
      lower(c.type) AS data_type, iif(c.pk, 'PRI', '') AS column_key
      FROM pragma_table_list AS t JOIN pragma_table_info(t.name) AS c
      WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite~_%' ESCAPE '~';`)
  db.createFunction({ name: 'database', arity: 0, xFunc: () => name })
}

function guard(db: Database): void {
  for (const { name, arity, call } of mysqlFunctions) {
    db.createFunction({
      name,
      arity,
      deterministic: true,
      xFunc: (_context, ...values) => call(...(values as never[])),
    })
  }
  // The same episode draws the same numbers.
  const random = () => {
    now.seed = (Math.imul(now.seed ^ (now.seed >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0
    return (now.seed ^ (now.seed >>> 16)) >>> 0
  }
  db.createFunction({ name: 'random', arity: 0, xFunc: () => random() })
  db.createFunction({ name: 'rand', arity: 0, xFunc: () => random() / 2 ** 32 })
  capi.sqlite3_db_config(db, capi.SQLITE_DBCONFIG_DEFENSIVE, 1, 0)
  capi.sqlite3_db_config(db, capi.SQLITE_DBCONFIG_DQS_DDL, 1, 0)
  // What takes long inside one function is one step: texts and patterns stay short.
  capi.sqlite3_limit(db, capi.SQLITE_LIMIT_LENGTH, 4 << 20)
  capi.sqlite3_limit(db, capi.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200)
  capi.sqlite3_progress_handler(db, STEPS, countSteps, 0)
  capi.sqlite3_set_authorizer(
    db,
    (_context, action, first, second) => (!now.foreign || isAllowed(action, first, second) ? 0 : capi.SQLITE_DENY),
    0,
  )
}

function isAllowed(action: number, first: unknown, second: unknown): boolean {
  if (action === capi.SQLITE_PRAGMA) return PRAGMAS.has(String(first))
  if (action === capi.SQLITE_FUNCTION) return !REFUSED.has(String(second))
  return ALLOWED.has(action)
}

function close(key: string): void {
  opened.get(key)?.db.close()
  opened.delete(key)
}

function countSteps(): number {
  now.steps -= STEPS
  return now.foreign && now.steps < 0 ? 1 : 0
}

function messageOf(error: unknown): string {
  const { resultCode, message } = error as { resultCode?: number; message?: string }
  if (resultCode === capi.SQLITE_INTERRUPT) return 'it took too long'
  if (resultCode === capi.SQLITE_AUTH) return `it may not do that: ${plain(message)}`
  return plain(message)
}

function plain(message = 'it failed'): string {
  return message.replace(/^SQLITE_\w+: sqlite3 result code \d+: /, '')
}
