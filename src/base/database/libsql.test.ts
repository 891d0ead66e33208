import { createRequire } from 'node:module'
import { expect, it } from 'vitest'
import { libsql, loadDriver } from './libsql.js'

it('says what to do where there is no binary', () => {
  const absent = () => {
    throw new Error("Cannot find module '@libsql/linux-riscv64-gnu'\nRequire stack:")
  }
  const missing = { code: 'sqlite/missing', message: expect.stringMatching(/@libsql\/linux-riscv64-gnu'$/) }
  expect(() => loadDriver(absent)).toThrow(expect.objectContaining(missing))
})

it('is a database, and the same one for everybody', () => {
  for (const Database of [libsql(), loadDriver(createRequire(import.meta.url))]) {
    const db = new Database(':memory:')
    expect(db.prepare('SELECT 1 AS one').get()).toMatchObject({ one: 1 })
    db.close()
  }
  expect(libsql()).toBe(libsql())
})
