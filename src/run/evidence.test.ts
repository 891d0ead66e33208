import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Libsql from 'libsql'
import { expect, it } from 'vitest'
import { evidenceOf } from './evidence.js'

it('leaves a database alone whose owner cannot be read', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'trinity-evidence-'))
  const file = join(folder, 'b.db')
  const db = new Libsql(file)
  db.exec('CREATE TABLE trinity_job (name TEXT PRIMARY KEY, folder TEXT)')
  db.exec(`INSERT INTO trinity_job VALUES ('p/job', '${folder}')`)
  expect(await evidenceOf(file, [{ job: 'p/job', folder }], false)).toEqual({ ours: true })
  db.exec("UPDATE trinity_job SET name = CAST(X'ff' AS TEXT)")
  db.close()
  expect(await evidenceOf(file, [{ job: 'p/job', folder }], false)).toEqual({
    ours: false,
    why: expect.stringContaining('it cannot be read: the database'),
  })
  await rm(folder, { recursive: true })
})
