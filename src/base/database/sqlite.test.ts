import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Libsql from 'libsql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from './database.js'
import { openSqlite } from './sqlite.js'

const dir = mkdtempSync(join(tmpdir(), 'trinity-sqlite-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

describe('a SQLite file', () => {
  let db: Database
  const file = join(dir, 'not', 'yet', 'there', 'x.db')
  const count = async () => Number((await db.query('SELECT count(*) AS n FROM t'))[0].n)

  beforeAll(async () => {
    db = await openSqlite(file)
    await db.transaction(async (tx) => {
      await tx.query(`CREATE TABLE t (id ${db.dialect.serial}, name TEXT, data ${db.dialect.blob})`)
    })
  })
  afterAll(() => db.close())

  it('gives the ids of many rows in their order, and bytes as bytes', async () => {
    const rows = Array.from({ length: 70 }, (_, i) => [`row ${i}`, new Uint8Array([i, 255])])
    const ids = await db.transaction((tx) => tx.insert('t', ['name', 'data'], rows, true))
    expect(ids).toHaveLength(70)
    for (const i of [0, 31, 32, 63, 64, 69]) {
      const [row] = await db.query('SELECT name, data FROM t WHERE id = ?', [ids[i]])
      expect(row).toEqual({ name: `row ${i}`, data: new Uint8Array([i, 255]) })
    }
    const { sql, value } = db.dialect.idsIn('id', [ids[3], ids[64], -1])
    const found = await db.query(`SELECT name FROM t WHERE ${sql} ORDER BY id`, [value])
    expect(found.map(({ name }) => name)).toEqual(['row 3', 'row 64'])
  })

  it('keeps all of a transaction or nothing of it', async () => {
    const before = await count()
    const failing = db.transaction(async (tx) => {
      await tx.insert('t', ['name'], [['half'], ['way']], false)
      throw new Error('no more')
    })
    await expect(failing).rejects.toThrow('no more')
    expect(await count()).toBe(before)
    await db.transaction((tx) => tx.insert('t', ['name'], [['whole']], false))
    expect(await count()).toBe(before + 1)
  })

  it('lets writers wait for each other', async () => {
    const other = await openSqlite(file)
    const begun = await count()
    const add = (to: Database) =>
      to.transaction(async (tx) => {
        const [{ n }] = await tx.query('SELECT count(*) AS n FROM t')
        await new Promise((resolve) => setTimeout(resolve, 2))
        await tx.insert('t', ['name'], [[String(n)]], false)
      })
    await Promise.all([add(db), add(other), add(db), add(other)])
    const rows = await db.query('SELECT name FROM t ORDER BY id DESC LIMIT 4')
    expect(rows.map(({ name }) => Number(name))).toEqual([begun + 3, begun + 2, begun + 1, begun])
    await other.close()
  })

  it('stays open until the last who opened it closes it', async () => {
    const other = await openSqlite(file)
    await other.close()
    await other.close()
    expect(await count()).toBeGreaterThan(0)
  })

  it('survives in its file', async () => {
    const kept = await openSqlite(join(dir, 'kept.db'))
    await kept.transaction(async (tx) => void (await tx.query('CREATE TABLE k (v REAL)')))
    await kept.transaction((tx) => tx.insert('k', ['v'], [[1.5]], false))
    await kept.flush()
    await kept.close()
    const again = await openSqlite(join(dir, 'kept.db'))
    expect(await again.query('SELECT v FROM k')).toEqual([{ v: 1.5 }])
    expect((await again.query(again.dialect.listTables)).map(({ name }) => name)).toContain('k')
    await again.close()
  })
})

describe('a SQLite file with damaged text', () => {
  it('refuses text that is not UTF-8 in a column of any type, and reads the other rows', async () => {
    const file = join(dir, 'latin1.db')
    const db = await openSqlite(file)
    const latin1 = "CAST(X'6bf6' AS TEXT)"
    await db.query('CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, n INTEGER, data BLOB)')
    await db.query(`INSERT INTO t VALUES (1, 'ö', 2, X'f6'), (2, ${latin1}, 2, X''), (3, NULL, ${latin1}, NULL)`)
    const read = (id: number) => db.query('SELECT * FROM t WHERE id = ?', [id])
    expect(await read(1)).toEqual([{ id: 1, name: 'ö', n: 2, data: new Uint8Array([0xf6]) }])
    await expect(read(2)).rejects.toMatchObject({
      code: 'database/damaged',
      path: file,
      message: expect.stringContaining('column name of the row with id 2 is not UTF-8'),
    })
    await expect(read(3)).rejects.toMatchObject({ message: expect.stringContaining('column n of the row with id 3') })
    await expect(db.transaction((tx) => tx.query('SELECT name FROM t'))).rejects.toMatchObject({
      code: 'database/damaged',
    })
    await db.close()
  })

  it('tells texts from blobs in more columns than a number has bits', async () => {
    const db = await openSqlite(join(dir, 'wide.db'))
    const given = Array.from({ length: 70 }, (_, i) => (i % 3 === 0 ? `text ${i}` : new Uint8Array([i])))
    const columns = given.map((_, i) => `c${i}`)
    await db.query(`CREATE TABLE wide (${columns.join(', ')})`)
    await db.transaction((tx) => tx.insert('wide', columns, [given], false))
    expect(Object.values((await db.query('SELECT * FROM wide'))[0])).toEqual(given)
    await db.close()
  })

  it('shows a column that was added after the first SELECT *', async () => {
    const db = await openSqlite(join(dir, 'added.db'))
    await db.query('CREATE TABLE t (a)')
    await db.query('INSERT INTO t VALUES (1)')
    expect(await db.query('SELECT * FROM t')).toEqual([{ a: 1 }])
    await db.query('ALTER TABLE t ADD COLUMN b')
    expect(await db.query('SELECT * FROM t')).toEqual([{ a: 1, b: null }])
    await db.close()
  })

  it.each(['some_table', 'some_column', 'SOMETYPE'])('refuses a declaration that is not UTF-8: %s', async (text) => {
    const file = join(dir, `${text}.db`)
    const db = new Libsql(file)
    db.exec('CREATE TABLE some_table (some_column SOMETYPE)')
    db.close()
    const bytes = readFileSync(file)
    for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) bytes[at + 2] = 0xff
    writeFileSync(file, bytes)
    await expect(openSqlite(file)).rejects.toMatchObject({ code: 'database/damaged', path: file })
  })
})

it('a file that is no database is an error with its path', async () => {
  const file = join(dir, 'text.db')
  writeFileSync(file, 'this is no database, however long one looks at it\n'.repeat(100))
  await expect(openSqlite(file)).rejects.toMatchObject({ code: 'database/open', path: file })
})

it('a full disk is said in words, and nothing of the transaction is kept', async () => {
  const file = join(dir, 'full.db')
  const db = await openSqlite(file)
  await db.transaction((tx) => tx.query('CREATE TABLE t (a BLOB)'))
  // SQLite says of a file that has grown to its limit what it says of a full disk.
  await db.query('PRAGMA max_page_count = 3')
  const put = db.transaction((tx) => tx.insert('t', ['a'], [[new Uint8Array(200_000)]], false))
  await expect(put).rejects.toMatchObject({
    code: 'file/sqlite_full',
    path: file,
    hint: expect.stringContaining('space'),
  })
  expect(await db.query('SELECT count(*) AS n FROM t')).toEqual([{ n: 0 }])
  await db.close()
})

describe('a file that another process is at work on', () => {
  /** Keeps everybody out, as a process does that makes the file, and switches it to its journal. */
  const held = (name: string) => {
    const file = join(dir, name)
    const other = new Libsql(file)
    other.exec('PRAGMA journal_mode = PERSIST; CREATE TABLE x (a TEXT); BEGIN EXCLUSIVE; INSERT INTO x VALUES (1)')
    return { file, release: () => other.exec('COMMIT') }
  }

  it('is waited for when it is opened', async () => {
    const { file, release } = held('new.db')
    setTimeout(release, 500)
    const [db, same] = await Promise.all([openSqlite(file), openSqlite(file)])
    await db.transaction((tx) => tx.query('CREATE TABLE t (a TEXT)'))
    expect(await same.query('SELECT count(*) AS n FROM t')).toEqual([{ n: 0 }])
    await Promise.all([db.close(), same.close()])
  })

  it('is not waited for without end: who is in the way is said', async () => {
    const { file, release } = held('held.db')
    await expect(openSqlite(file, 600)).rejects.toMatchObject({
      code: 'database/busy',
      path: file,
      message: expect.stringMatching(/another process .*0\.6 s/),
    })
    release()
    // nothing of the failed attempt is left
    await (await openSqlite(file)).close()
  })
})
