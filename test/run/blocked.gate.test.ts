import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeBench } from '../../scripts/kill-test.mjs'
import { blockedRun } from './blocked-kit.js'
import { cli } from './cli-kit.js'

let dir: string

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'trinity-blocked-'))
  await makeBench(dir, { cli, steps: 200 })
}, 120_000)
afterAll(() => rmSync(dir, { recursive: true, force: true }))

describe('a workflow that does not let go of the event loop', { timeout: 180_000 }, () => {
  const told = /did not let go of the event loop for ([2-9]|\d\d) s in rollout \S+ \(count_workflow\)/

  it('in a synchronous loop fails the run at its limit, which names workflow and place, and saves', async () => {
    const deed = 'for (;;) JSON.parse("[1]")'
    const { code, stderr, stdout, plugin, job } = await blockedRun(dir, 'sync', deed, ['explorer.max_timeout=2'])
    expect(code, stdout + stderr).toBe(1)
    expect(stderr).toMatch(told)
    expect(stderr).toMatch(new RegExp(`${plugin}:\\d+:\\d+`))
    expect(stderr).not.toMatch(/debugger|^ {4}at /im)
    expect(stdout).not.toMatch(/^ *done/m)
    expect(Number(readFileSync(join(job, 'latest_checkpointed_iteration.txt'), 'utf8'))).toBeGreaterThan(0)
    expect(readFileSync(join(job, 'log', 'run.log'), 'utf8')).toContain('did not let go of the event loop')
  })

  it('in a loop of promises ends the process, which says why, if it cannot be made to save', async () => {
    const deed = 'for (;;) await null'
    const { code, signal, stderr, stdout, plugin } = await blockedRun(dir, 'promises', deed, ['explorer.max_timeout=2'])
    expect([1, 'SIGKILL'], stdout + stderr).toContain(code ?? signal)
    expect(stderr).toMatch(told)
    expect(stderr).toMatch(new RegExp(`${plugin}:\\d+:\\d+`))
    expect(stdout).not.toMatch(/^ *done/m)
  })
})

describe('the thread that watches', () => {
  it('ends by itself whenever it is told to, even while it starts, and the process with it', async () => {
    const built = pathToFileURL(join(dirname(cli), '..', 'run', 'watchdog', 'watchdog.js'))
    const program = `
      import { Worker } from 'node:worker_threads'
      import { watchEventLoop } from '${built}'
      Worker.prototype.terminate = () => { throw new Error('ended from outside') }
      for (const ms of [0, 1, 5, 10, 20, 30, 40, 60, 80, 120, 400]) {
        const watchdog = watchEventLoop({ limitMs: 10_000, onBlocked: console.error, note: console.error })
        await new Promise((done) => setTimeout(done, ms))
        await watchdog.close()
      }
      console.log('closed')`
    const args = ['--input-type=module', '--eval', program]
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { timeout: 60_000 })
    expect(stderr + stdout).toBe('closed\n')
  }, 90_000)
})
