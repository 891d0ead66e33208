import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { tempDir } from '../../test/trainer/kit.js'
import { JobFolders } from './job-folders.js'

let log: string
let file: string
let folders: JobFolders
let gone: string[]
beforeEach(async () => {
  const dir = await tempDir()
  log = join(dir, 'log')
  file = join(dir, 'experiences.jsonl')
  mkdirSync(log)
  writeFileSync(file, '')
  gone = []
  const places = { folders: [dir, log, join(dir, 'never')], files: [file] }
  folders = new JobFolders(places, ({ path = '' }) => gone.push(path))
  await folders.check()
})
afterEach(() => folders.close())

const failure = (path: string) => ({ code: 'run/folder-gone', path })

describe('a watched folder', () => {
  it('is fine as long as it is there, whatever happens in it', async () => {
    for (let i = 0; i < 3; i++) {
      writeFileSync(join(log, `${i}.log`), 'x')
      rmSync(join(log, `${i}.log`))
      await folders.check()
    }
    expect(gone).toEqual([])
  })

  it('is missed when it was moved', async () => {
    renameSync(log, `${log}.away`)
    await expect(folders.check()).rejects.toMatchObject(failure(log))
  })

  it('is missed when another one has its name', async () => {
    renameSync(log, `${log}.away`)
    mkdirSync(log)
    await expect(folders.check()).rejects.toMatchObject(failure(log))
  })

  it('is fine again once it is back', async () => {
    renameSync(log, `${log}.away`)
    await sleep(10)
    renameSync(`${log}.away`, log)
    await folders.check()
  })
})

it('misses a file that was moved', async () => {
  renameSync(file, `${file}.away`)
  await expect(folders.check()).rejects.toMatchObject(failure(file))
})

it('reports once, without a check, what is gone', async () => {
  rmSync(log, { recursive: true })
  await expect.poll(() => gone, { timeout: 20_000 }).toEqual([log])
})
