import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Libsql from 'libsql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { baseOfFile, baseOfSetup } from './base.js'
import { SqlDatabase } from './database.js'
import { SqlPool } from './pool.js'

const SETUP = "CREATE TABLE t (a INTEGER, b TEXT); INSERT INTO t VALUES (1, 'x'), (2, NULL), (3, 'it''s')"
const NUMBERS = 'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)'

let dir: string
const pool = new SqlPool(1)
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'trinity-sql-'))
})
afterAll(async () => {
  pool.close()
  await rm(dir, { recursive: true, force: true })
})

const open = (setup = SETUP, limits = {}) => new SqlDatabase(baseOfSetup('band', setup), pool, limits)
const rows = (...all: unknown[][]) => ({ rows: all })
const error = (text: string | RegExp) => ({ error: expect.stringMatching(text) })

it('gives rows, nothing for a change, and says what is wrong', async () => {
  const db = open()
  expect(await db.run('SELECT * FROM t ORDER BY a DESC; ')).toEqual(rows([3n, "it's"], [2n, null], [1n, 'x']))
  expect(await db.run('-- a comment\nVALUES (1), (2.5), (2.0)')).toEqual(rows([1n], [2.5], [2]))
  expect(await db.run('SELECT a, a FROM t WHERE b = "x" -- end')).toEqual(rows([1n, 1n]))
  expect(await db.run("SELECT 9007199254740993, x'ff00'")).toEqual(rows([9007199254740993n, new Uint8Array([255, 0])]))
  expect(await db.run("INSERT INTO t VALUES (4, 'y')")).toEqual({ rows: undefined })
  expect(await db.run('DELETE FROM t WHERE a > 2 RETURNING a')).toEqual(rows([3n], [4n]))
  expect(await db.run('SELECT count(*) FROM t')).toEqual(rows([2n]))
  expect(await db.run('SELECT a FROM t WHERE a > 9')).toEqual(rows())
  expect(await db.run('SELECT missing FROM t')).toEqual({ error: 'no such column: missing' })
  expect(await db.run('SELECT 1; SELECT 2')).toEqual(error('one statement'))
})

it('understands how MySQL looks around, and some of its functions', async () => {
  const db = open('CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT NOT NULL)')
  expect(await db.run('SHOW TABLES;')).toEqual(rows(['t']))
  expect(await db.run('show databases')).toEqual(rows(['band']))
  for (const sql of ['desc `t`', 'DESCRIBE t', 'show columns from band.t']) {
    expect(await db.run(sql)).toEqual(rows(['a', 'INTEGER', 'YES', 'PRI', null, ''], ['b', 'TEXT', 'NO', '', null, '']))
  }
  expect(await db.run('SHOW CREATE TABLE T')).toEqual(rows(['t', expect.stringContaining('CREATE TABLE t')]))
  expect(await db.run('use band')).toEqual({ rows: undefined })
  expect(await db.run('use other')).toEqual(error('Unknown database'))
  const columns = 'SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = DATABASE()'
  expect(await db.run(columns)).toEqual(rows(['t', 'a'], ['t', 'b']))
  await db.run('CREATE TABLE u (x)')
  expect(await db.run('SELECT count(*) FROM INFORMATION_SCHEMA.TABLES')).toEqual(rows([2n]))
  const calls =
    "LEFT('abc', 2), RIGHT('abc', 2), CONCAT('a', 1), IF(1, 'y', 'n'), YEAR('2004-05-12'), GREATEST(1, 3, 2)"
  expect(await db.run(`SELECT ${calls}`)).toEqual(rows(['ab', 'bc', 'a1', 'y', 2004n, 3n]))
})

it('draws the same numbers in the same episode', async () => {
  const drawn = async () => {
    const db = open()
    await db.run('INSERT INTO t SELECT random(), hex(random()) FROM t')
    await db.run('UPDATE t SET a = random() WHERE a > 3')
    return db.run('SELECT *, rand() FROM t ORDER BY random()')
  }
  expect(await drawn()).toEqual(await drawn())
})

it('episodes do not see each other, and a state can be restored', async () => {
  const [first, second] = [open(), open()]
  await first.run('DELETE FROM t')
  await first.run('CREATE TABLE mine (x)')
  await first.run('CREATE TEMP TABLE temporary (x)')
  expect(await second.run('SELECT count(*) FROM t')).toEqual(rows([3n]))
  expect(await second.run('SELECT * FROM mine')).toEqual(error('no such table'))
  expect(await second.run('SELECT * FROM temporary')).toEqual(error('no such table'))
  const { journal } = first
  expect(journal).toHaveLength(3)
  await first.run('DROP TABLE mine')
  expect(await first.run('SELECT * FROM mine')).toEqual(error('no such table'))
  first.journal = journal
  expect(await first.run('SELECT * FROM mine')).toEqual(rows())
})

it('copies a file, which it never changes; with a write-ahead log too', async () => {
  const file = join(dir, "it's #1.sqlite")
  const source = new Libsql(file)
  source.exec(`PRAGMA journal_mode = WAL; ${SETUP}; CREATE VIEW v AS SELECT a FROM t`)
  source.close()
  const db = new SqlDatabase(await baseOfFile('band', file), pool)
  expect(await db.run('SELECT * FROM v')).toEqual(rows([1n], [2n], [3n]))
  await db.run('DROP TABLE t')
  const again = new SqlDatabase(await baseOfFile('band', file), pool)
  expect(await again.run('SELECT count(*) FROM t')).toEqual(rows([3n]))
})

it('what is no database, or no SQL, is an error', async () => {
  const file = join(dir, 'text.sqlite')
  await writeFile(file, 'not a database, just some text that is long enough to be read as one')
  const broken = { code: 'environment/data' }
  await expect(new SqlDatabase(await baseOfFile('x', file), pool).run('SELECT 1')).rejects.toMatchObject(broken)
  await expect(open('CREATE').run('SELECT 1')).rejects.toMatchObject(broken)
  await expect(baseOfFile('x', join(dir, 'nowhere'))).rejects.toMatchObject({ path: join(dir, 'nowhere') })
})

describe('hostile SQL', () => {
  it('touches no file, no setting and no other episode', async () => {
    const db = open()
    const file = join(dir, 'stolen')
    for (const sql of [
      `ATTACH '${file}' AS x`,
      `/* */ -- \n attach '${file}' AS x`,
      `VACUUM INTO '${file}'`,
      `SELECT writefile('${file}', 'x')`,
      `SELECT readfile('${file}')`,
      `SELECT * FROM fsdir('/')`,
      'PRAGMA temp_store_directory = "/"',
      'PRAGMA hard_heap_limit = 0',
      'PRAGMA writable_schema = 1',
      'SELECT * FROM pragma_database_list',
      "SELECT load_extension('x')",
      'CREATE VIRTUAL TABLE z USING fts5 (a)',
      'UPDATE sqlite_dbpage SET data = zeroblob(4096)',
      "UPDATE sqlite_master SET sql = ''",
      'COMMIT',
      'ROLLBACK',
      'SAVEPOINT s',
      'DETACH information_schema',
      'SELECT total_changes()',
      '',
      '\u0000',
      'SELECT 1\u0000; DROP TABLE t',
    ]) {
      expect([sql, await db.run(sql)]).toEqual([sql, error(/./)])
    }
    expect(existsSync(file)).toBe(false)
    expect(db.journal).toEqual([])
    expect(await db.run('SELECT count(*) FROM t')).toEqual(rows([3n]))
  })

  it('who ends the transaction has changed nothing', async () => {
    const db = open('CREATE TABLE u (a PRIMARY KEY); INSERT INTO u VALUES (1)')
    await db.run('INSERT INTO u VALUES (2)')
    expect(await db.run('INSERT OR ROLLBACK INTO u VALUES (3), (1)')).toEqual(error('UNIQUE'))
    expect(await db.run('SELECT * FROM u')).toEqual(rows([1n], [2n]))
    expect(await db.run('INSERT OR IGNORE INTO u VALUES (1)')).toEqual({ rows: undefined })
    db.journal = []
    expect(await db.run('SELECT * FROM u')).toEqual(rows([1n]))
  })

  it('ends at a limit of time, rows and memory, and holds nobody up', async () => {
    const db = open(SETUP, { steps: 100_000 })
    let lag = 0
    let last = performance.now()
    const clock = setInterval(() => {
      lag = Math.max(lag, performance.now() - last)
      last = performance.now()
    }, 10)
    expect(await open().run(`${NUMBERS} SELECT x FROM n`)).toEqual(error('10000 rows'))
    // The first row comes at once, the second never.
    expect(await db.run(`${NUMBERS} SELECT 0 UNION ALL SELECT count(*) FROM n`)).toEqual(error('too long'))
    const filling = `${NUMBERS} INSERT INTO t SELECT x, zeroblob(3000000) FROM n`
    expect(await db.run(filling)).toEqual(error(/memory/))
    expect(await db.run('SELECT hex(zeroblob(100000000))')).toEqual(error(/big|memory/))
    clearInterval(clock)
    expect(lag).toBeLessThan(2000)
    expect(await db.run('SELECT count(*) FROM t')).toEqual(rows([3n]))
  }, 20_000)

  it('what cannot be stopped in its thread ends with the thread', async () => {
    const db = open(SETUP, { ms: 500 })
    await db.run("UPDATE t SET b = 'kept' WHERE a = 1")
    // One call of one function, which compares two million characters at every place of four million.
    const endless = "SELECT instr(hex(zeroblob(2000000)), hex(zeroblob(1000000)) || '1')"
    expect(await db.run(endless)).toEqual(error('too long'))
    expect(await db.run('SELECT b FROM t WHERE a = 1')).toEqual(rows(['kept']))
  }, 30_000)

  it('many episodes share the threads', async () => {
    const many = Array.from({ length: 100 }, (_, i) => ({ i, db: open() }))
    await Promise.all(many.map(({ i, db }) => db.run(`INSERT INTO t VALUES (${i + 100}, 'n')`)))
    const seen = await Promise.all(many.map(({ db }) => db.run('SELECT max(a), count(*) FROM t')))
    expect(seen).toEqual(many.map(({ i }) => rows([BigInt(i + 100), 4n])))
  })
})
