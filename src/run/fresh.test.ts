import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BASE, resolveAll } from '../../test/config-kit.js'
import { openBuffer } from '../buffer/index.js'
import { Checkpoints } from '../checkpoint/index.js'
import { leftovers, startOver } from './fresh.js'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'trinity-fresh-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const resolved = (set: string[] = []) =>
  resolveAll(`project: p\nname: job\n${BASE}`, { cwd: dir, set: [`checkpoint_root_dir=${dir}`, ...set] })
const buffer = (path: string) => [
  `buffer.trainer_input.experience_buffer={storage_type: sql, path: "sqlite:///${path}"}`,
]

describe('starting over', () => {
  it('deletes the folder of the job and its database elsewhere, and nothing else', async () => {
    const job = join(dir, 'p', 'job')
    mkdirSync(join(job, 'global_step_1'), { recursive: true })
    mkdirSync(join(dir, 'p', 'other'), { recursive: true })
    const file = join(dir, 'own.db')
    await (await openBuffer({ name: 'b', storage_type: 'sql', path: `sqlite:///${file}` }, { job: 'p/job' })).close()
    const run = resolved(buffer(file))
    expect(await leftovers(run)).toEqual(expect.arrayContaining([job, file]))
    await startOver(run)
    expect([job, file].map((path) => existsSync(path))).toEqual([false, false])
    expect(existsSync(join(dir, 'p', 'other'))).toBe(true)
    expect(await leftovers(run)).toEqual([])
  })

  it('leaves everything when the database is of another job', async () => {
    mkdirSync(join(dir, 'p', 'job'), { recursive: true })
    const file = join(dir, 'foreign.db')
    await (await openBuffer({ name: 'b', storage_type: 'sql', path: `sqlite:///${file}` }, { job: 'p/other' })).close()
    await expect(startOver(resolved(buffer(file)))).rejects.toMatchObject({ code: 'cli/fresh' })
    expect(existsSync(join(dir, 'p', 'job'))).toBe(true)
  })

  it('leaves the data that a run only reads', async () => {
    const file = join(dir, 'sft.jsonl')
    writeFileSync(file, '{}\n')
    const keys = ['mode=train', 'algorithm.algorithm_type=sft', 'buffer.train_batch_size=1']
    const run = resolved([...keys, `buffer.trainer_input.experience_buffer={path: ${file}}`])
    expect(await leftovers(run)).not.toContain(file)
  })

  it('is refused while somebody is at work', async () => {
    const job = join(dir, 'p', 'job')
    const busy = await Checkpoints.open({ dir: job, roles: ['trainer'] })
    await expect(startOver(resolved())).rejects.toMatchObject({ code: 'checkpoint/in-use' })
    await busy.close()
    await startOver(resolved())
    expect(existsSync(job)).toBe(false)
  })
})
