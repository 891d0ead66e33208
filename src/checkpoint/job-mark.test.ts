import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { markedFiles, markJob, markNewFile, readMark } from './job-mark.js'
import { MARKS } from './layout.js'

const root = mkdtempSync(join(tmpdir(), 'trinity-mark-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
let dir: string
let made = 0
beforeEach(() => {
  dir = join(root, String(made++))
})

it('says whose the folder is, and what lay there before', async () => {
  mkdirSync(dir)
  writeFileSync(join(dir, 'mine.txt'), '')
  expect(await readMark(dir)).toBeUndefined()
  await markJob(dir, 'p/n')
  writeFileSync(join(dir, 'later.txt'), '')
  await markJob(dir, 'p/n')
  await expect(markJob(dir, 'p/other')).rejects.toMatchObject({
    code: 'checkpoint/other-job',
    message: expect.stringContaining("belongs to job 'p/n'"),
  })
  expect(await readMark(dir)).toEqual({ job: 'p/n', found: ['mine.txt'] })
})

it('of many at once one stays, and nothing beside it', async () => {
  const marked = await Promise.allSettled(Array.from({ length: 8 }, (_, i) => markJob(dir, `job ${i}`)))
  expect(marked.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect((await readMark(dir))?.job).toMatch(/^job \d$/)
  expect(readdirSync(join(dir, MARKS))).toHaveLength(1)
})

it('files that the job makes are its own; those that were there are not', async () => {
  mkdirSync(dir)
  const [there, fresh] = [join(dir, 'there.db'), join(dir, 'fresh.db')]
  writeFileSync(there, '')
  for (const file of [there, fresh, fresh]) await markNewFile(dir, 'p/n', file)
  expect(await markedFiles(dir, 'p/n')).toEqual([fresh])
  expect(await markedFiles(dir, 'p/other')).toEqual([])
})

it('a mark behind a link is nobody’s', async () => {
  const elsewhere = join(root, 'elsewhere')
  await markJob(elsewhere, 'p/n')
  mkdirSync(dir)
  symlinkSync(join(elsewhere, MARKS), join(dir, MARKS))
  expect(await readMark(dir)).toBeUndefined()
  expect(await markedFiles(dir, 'p/n')).toEqual([])
})
