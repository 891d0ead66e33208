import { linkSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { withKeys } from '../../test/config-kit.js'
import { openDatabase } from '../base/database/database.js'
import { markedFiles } from '../checkpoint/job-mark.js'
import { jobName } from './job-name.js'
import { claimFile, localFile } from './outside.js'

describe('files of experiences that lie anywhere', () => {
  let dir: string
  let config: ReturnType<typeof withKeys>
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'trinity-outside-'))
    config = withKeys({ checkpoint_root_dir: join(dir, 'root') })
    mkdirSync(config.checkpoint_job_dir, { recursive: true })
  })
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  it('are of this job when it makes them', async () => {
    const file = join(dir, 'new.jsonl')
    await claimFile(config, file)
    expect(await markedFiles(config.checkpoint_job_dir, jobName(config))).toEqual([file])
    writeFileSync(file, '{}\n')
    await claimFile(config, file)
  })

  it('are refused when somebody else has made them', async () => {
    const file = join(dir, 'theirs.jsonl')
    writeFileSync(file, '{"a": 1}\n')
    await expect(claimFile(config, file)).rejects.toMatchObject({ code: 'buffer/not-ours', path: file })
  })

  it('may be empty, or in the folder of the job', async () => {
    writeFileSync(join(dir, 'empty.jsonl'), '')
    await claimFile(config, join(dir, 'empty.jsonl'))
    const inside = join(config.checkpoint_job_dir, 'old.jsonl')
    writeFileSync(inside, '{}\n')
    await claimFile(config, inside)
    expect(localFile('postgresql://h/d')).toBeUndefined()
  })

  it('are refused when they are other names of a file, empty and in the folder of the job too', async () => {
    const theirs = join(dir, 'theirs-too.jsonl')
    writeFileSync(theirs, '')
    for (const [i, place] of [dir, config.checkpoint_job_dir].entries()) {
      const [soft, hard, nowhere] = ['soft', 'hard', 'nowhere'].map((name) => join(place, `${name}-${i}.jsonl`))
      symlinkSync(theirs, soft)
      linkSync(theirs, hard)
      symlinkSync(join(dir, 'not-there'), nowhere)
      for (const file of [soft, hard, nowhere]) {
        await expect(claimFile(config, file)).rejects.toMatchObject({ code: 'buffer/not-ours', path: file })
      }
    }
  })

  it('stay this job’s own when somebody gives them another name', async () => {
    const file = join(dir, 'own.jsonl')
    await claimFile(config, file)
    writeFileSync(file, '{}\n')
    linkSync(file, join(dir, 'other-name.jsonl'))
    await claimFile(config, file)
  })

  it.each([
    'postgresql//me:hunter2@h/db',
    'me:hunter2@127.0.0.1/db',
    'postgrsql:/me:hunter2@h/db',
    'postgresql:/me:hunter2@h/db',
    'postgresql:me:hunter2@h/db',
    'MYSQL://me:hunter2@h/db',
  ])('are no files where a URL was meant: %s', async (path) => {
    const error = await claimFile(config, path).catch((one) => one)
    expect(error).toMatchObject({ code: expect.stringMatching(/^(buffer|database)\/url$/) })
    expect(JSON.stringify(error) + error.stack).not.toContain('hunter2')
  })
})

describe('a database of experiences', () => {
  let dir: string
  const at = (root: string, keys = {}) => {
    const config = withKeys({ checkpoint_root_dir: join(dir, root), ...keys })
    mkdirSync(config.checkpoint_job_dir, { recursive: true })
    return config
  }
  const jobs = async (url: string) => {
    const db = await openDatabase(url)
    const rows = await db.query('SELECT * FROM trinity_job')
    await db.close()
    return rows
  }
  beforeAll(() => {
    dir = realpathSync(mkdtempSync(join(tmpdir(), 'trinity-outside-')))
  })
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  it('is of one folder: a job of the same name elsewhere is refused, by both names', async () => {
    const url = `sqlite:///${join(dir, 'shared.db')}`
    const [first, second] = [at('a'), at('b')]
    await claimFile(first, url)
    await claimFile(first, url)
    symlinkSync(join(dir, 'a'), join(dir, 'link-to-a'))
    await claimFile(at('link-to-a'), url)
    const error = await claimFile(second, url).catch((one) => one)
    expect(error).toMatchObject({ code: 'buffer/other-job', hint: expect.stringContaining('UPDATE trinity_job') })
    for (const one of [first, second]) expect(error.message).toContain(one.checkpoint_job_dir)
    const statement = /UPDATE .*$/.exec(error.hint)?.[0] as string
    const db = await openDatabase(url)
    await db.transaction((tx) => tx.query(statement))
    await db.close()
    await claimFile(second, url)
    await expect(claimFile(first, url)).rejects.toMatchObject({ code: 'buffer/other-job' })
  })

  it('of an earlier release becomes that of the folder', async () => {
    const url = `sqlite:///${join(dir, 'old.db')}`
    const config = at('a')
    for (const rows of [[], [jobName(config)]]) {
      const db = await openDatabase(url)
      await db.transaction(async (tx) => {
        await tx.query('DROP TABLE IF EXISTS trinity_job')
        await tx.query('CREATE TABLE trinity_job (name TEXT PRIMARY KEY)')
        for (const row of rows) await tx.query('INSERT INTO trinity_job (name) VALUES (?)', [row])
      })
      await db.close()
      await claimFile(config, url)
      expect(await jobs(url)).toEqual([{ name: jobName(config), folder: config.checkpoint_job_dir }])
    }
    await expect(claimFile(at('b'), url)).rejects.toMatchObject({ code: 'buffer/other-job' })
    await expect(claimFile(at('a', { name: 'another' }), url)).rejects.toThrow('belongs to job')
  })

  it('moves along in the folder of the job', async () => {
    const before = at('c')
    await claimFile(before, `sqlite:///${join(before.checkpoint_job_dir, 'x.db')}`)
    renameSync(join(dir, 'c'), join(dir, 'd'))
    const after = at('d')
    const url = `sqlite:///${join(after.checkpoint_job_dir, 'x.db')}`
    await claimFile(after, url)
    expect(await jobs(url)).toEqual([{ name: jobName(after), folder: after.checkpoint_job_dir }])
  })
})
