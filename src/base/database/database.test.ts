import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { openDatabase } from './database.js'

const dir = mkdtempSync(join(tmpdir(), 'trinity-database-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

it('opens what the URL names', async () => {
  const db = await openDatabase(`sqlite:///${dir}/x.db`)
  expect(db.where).toBe(`${dir}/x.db`)
  expect(await db.query('SELECT 1 AS one')).toEqual([{ one: 1 }])
  await db.close()
})

it('refuses another kind, and says which there are, without the password', () => {
  let message = ''
  try {
    openDatabase('mysql://me:secret@host/d')
  } catch (error) {
    message = `${error} ${(error as { hint: string }).hint}`
    expect(error).toMatchObject({ code: 'database/url', path: 'mysql://me:***@host/d' })
  }
  expect(message).toMatch(/sqlite:.*postgresql:/)
  expect(message).not.toContain('secret')
})
