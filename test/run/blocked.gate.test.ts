import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
