import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tempDir } from '../../test/support/temp-dir.js'
import { TrinityError } from '../base/error.js'
import { isMark } from '../checkpoint/job-mark.js'
import type { Config } from '../config/index.js'
import { RunRecorder, readRecords } from './record.js'

const SILENT = { phase: () => {}, metrics: () => {}, note: () => {}, end: () => {}, close: () => {} }

function configOf(mode: string, explorer = 'explorer'): Config {
  const monitor = { monitor_args: { api_key: 'sk-very-secret-1234' } }
  return { mode, explorer: { name: explorer }, monitor } as unknown as Config
}

describe('record of a run', () => {
  it('says what was asked for and how it ended, without secrets', async () => {
    const dir = await tempDir()
    const recorder = new RunRecorder(dir, configOf('both'))
    const told: [string, number][] = []
    const view = recorder.watch({ ...SILENT, expect: (role, steps) => told.push([role, steps]) })
    view.expect?.('trainer', 100)
    view.expect?.('explorer', Number.POSITIVE_INFINITY)
    recorder.plan(Promise.resolve([['memory', '3 GiB']]))
    recorder.plan(Promise.reject(new Error('no model')))
    await recorder.end('failed', new TrinityError('engine/memory', 'too large', { hint: 'make it smaller' }))
    const [record, ...others] = await readRecords(dir)
    expect(others).toEqual([])
    expect(record).toMatchObject({ pid: process.pid, expects: { trainer: 100 }, memory: [['memory', '3 GiB']] })
    expect(record.end).toMatchObject({
      how: 'failed',
      error: { code: 'engine/memory', message: 'too large', hint: 'make it smaller' },
    })
    expect(told).toEqual([
      ['trainer', 100],
      ['explorer', Number.POSITIVE_INFINITY],
    ])
    expect(JSON.stringify(record)).not.toContain('sk-very-secret')
  })

  it('keeps one for each process of a job, the latest first', async () => {
    const dir = await tempDir()
    await new RunRecorder(dir, configOf('train'), new Date(1000), 'mine.yaml').end('finished')
    await new RunRecorder(dir, configOf('explore', 'a/b'), new Date(2000)).end('stopped')
    expect((await readRecords(dir)).map(({ config }) => config.mode)).toEqual(['explore', 'train'])
    expect((await readRecords(dir)).map(({ file }) => file)).toEqual([undefined, resolve('mine.yaml')])
    expect((await readdir(join(dir, '.trinity'))).every(isMark)).toBe(true)
  })

  it('passes over what is no record', async () => {
    const dir = await tempDir()
    expect(await readRecords(dir)).toEqual([])
    await mkdir(join(dir, '.trinity'))
    await writeFile(join(dir, '.trinity', 'run-both.json'), '{"began": ')
    expect(await readRecords(dir)).toEqual([])
  })

  it('a folder that cannot be written is nobody’s concern', async () => {
    const dir = await tempDir()
    await writeFile(join(dir, '.trinity'), 'a file')
    await expect(new RunRecorder(dir, configOf('both')).end('finished')).resolves.toBeUndefined()
  })
})
