import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { removeLitter } from './litter.js'

it.each(['', '.trinity', 'bench'])("removes old half-written files of dead processes: '%s'", async (folder) => {
  const job = await mkdtemp(join(tmpdir(), 'trinity-litter-'))
  const dir = join(job, folder)
  await mkdir(dir, { recursive: true })
  const { pid: dead } = spawnSync(process.execPath, ['--version'])
  const old = new Date(Date.now() - 120_000)
  for (const [name, time] of [
    [`results.json.${dead}-0123abcd.tmp`, old],
    [`results.json.${dead}-0123abce.tmp`, new Date()],
    [`results.json.${process.pid}-0123abcd.tmp`, old],
    ['mine.tmp', old],
  ] as const) {
    await writeFile(join(dir, name), '{')
    await utimes(join(dir, name), time, time)
  }
  await removeLitter(job, async (pid) => pid !== dead, 60_000)
  const stay = [`results.json.${dead}-0123abce.tmp`, `results.json.${process.pid}-0123abcd.tmp`, 'mine.tmp']
  expect((await readdir(dir)).sort()).toEqual(stay.sort())
  await rm(job, { recursive: true })
})
