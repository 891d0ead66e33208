import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { withKeys } from '../../test/config-kit.js'
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

  it('may be empty, in the folder of the job, a database, or on a server', async () => {
    writeFileSync(join(dir, 'empty.jsonl'), '')
    await claimFile(config, join(dir, 'empty.jsonl'))
    const inside = join(config.checkpoint_job_dir, 'old.jsonl')
    writeFileSync(inside, '{}\n')
    await claimFile(config, inside)
    writeFileSync(join(dir, 'x.db'), 'SQLite')
    await claimFile(config, `sqlite:///${join(dir, 'x.db')}`)
    await claimFile(config, 'postgresql://h/d')
    expect(localFile('postgresql://h/d')).toBeUndefined()
  })
})
