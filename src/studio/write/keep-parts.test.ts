import { existsSync } from 'node:fs'
import { mkdir, rename, symlink, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Bench } from '../../../test/run/kit.js'
import type { Deletion, RunList } from '../api.js'
import { Runs } from '../run/runs.js'
import { readTags } from '../run/tags.js'
import { keepParts } from './keep-parts.js'

let bench: Bench
beforeAll(async () => {
  bench = await Bench.make()
  await bench.run({ name: 'done', 'buffer.total_steps': 1 })
})
afterAll(() => bench.remove())

async function open() {
  const runs = new Runs([bench.dir])
  const parts = keepParts(runs)
  const act = async (path: string, body: object) => {
    const part = parts.find((one) => one.path.endsWith(path))
    if (!part || !('act' in part)) throw new Error(path)
    const { runs: found }: RunList = await runs.list()
    return part.act(body, found[0].id, { tell: () => {}, signal: AbortSignal.abort() })
  }
  return { runs, act }
}

describe('runs that are there', () => {
  it('have the words that somebody gives them', async () => {
    const { act } = await open()
    expect(await act('/tags', { tags: [' paper ', 'paper', 'best'] })).toEqual({ tags: ['paper', 'best'] })
    expect(await readTags(bench.job('done'))).toEqual(['paper', 'best'])
    const { runs } = await open()
    expect((await runs.list()).runs[0].tags).toEqual(['paper', 'best'])
    await expect(async () => act('/tags', { tags: [''] })).rejects.toMatchObject({ code: 'studio/query' })
  })

  it('are deleted by their name, not while they run, and without what is not theirs', async () => {
    const dir = bench.job('done')
    const lock = join(dir, '.lock-trainer')
    await writeFile(join(dir, 'mine.txt'), 'of a person')
    await writeFile(lock, JSON.stringify({ token: 't', pid: process.pid, host: hostname(), born: '' }))
    const { act } = await open()
    await expect(act('/delete', { name: 'p/done' })).rejects.toMatchObject({ code: 'studio/running' })
    await writeFile(lock, JSON.stringify({ token: 't', pid: 2 ** 30, host: hostname(), born: '' }))
    await expect(act('/delete', { name: 'p/other' })).rejects.toMatchObject({ path: 'name' })
    const told = (await act('/delete', { name: 'p/done' })) as Deletion
    expect(told.kept).toEqual([join(dir, 'mine.txt')])
    expect(told.files).toBeGreaterThan(5)
    expect(['monitor', 'log', 'buffer', '.trinity', 'mine.txt'].map((name) => existsSync(join(dir, name)))).toEqual([
      ...[false, false, false, false, true],
    ])
  })

  it('that were moved are left to people, and nothing outside of the folders goes', async () => {
    await bench.run({ name: 'moved', 'buffer.total_steps': 1 })
    await mkdir(join(bench.dir, 'elsewhere'))
    await rename(bench.job('moved'), join(bench.dir, 'elsewhere', 'moved'))
    const { act } = await open()
    await expect(act('/delete', { name: 'p/moved' })).rejects.toMatchObject({ code: 'studio/unknown-files' })
    await symlink(join(bench.dir, 'elsewhere', 'moved'), bench.job('moved'))
    await expect(act('/delete', { name: 'p/moved' })).rejects.toMatchObject({
      code: expect.stringMatching(/fresh|unknown/),
    })
    expect(existsSync(join(bench.dir, 'elsewhere', 'moved', 'log'))).toBe(true)
  })
})
