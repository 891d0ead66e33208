import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { nodeSqlite } from './node-sqlite.js'

const [major, minor] = process.versions.node.split('.').map(Number)
const absent = major < 22 || (major === 22 && minor < 13)

it.skipIf(absent)(`does what libsql does${absent ? ' (this Node has no SQLite)' : ''}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'trinity-sqlite-'))
  const Database = nodeSqlite(createRequire(import.meta.url)('node:sqlite'))
  const file = join(folder, 'one.db')
  const [one, two] = [new Database(file), new Database(file, { timeout: 1 })]
  one.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, b BLOB)')
  one.exec('BEGIN IMMEDIATE')
  expect(one.inTransaction).toBe(true)
  expect(() => two.exec('BEGIN IMMEDIATE')).toThrow(expect.objectContaining({ code: 'SQLITE_BUSY' }))
  expect(two.inTransaction).toBe(false)
  expect(one.prepare('INSERT INTO t (b) VALUES (?), (?)').run([Uint8Array.of(1, 2), null]).lastInsertRowid).toBe(2)
  one.exec('COMMIT')
  expect(one.inTransaction).toBe(false)
  expect(two.prepare('SELECT id FROM t WHERE id > ?').all([0])).toHaveLength(2)
  expect(two.prepare('DELETE FROM t').all([])).toEqual([])
  one.pragma('wal_checkpoint(PASSIVE)')
  one.close()
  two.close()
  expect(() => new Database(file, { readonly: true }).exec('DROP TABLE t')).toThrow(/readonly/)
  rmSync(folder, { recursive: true })
})
