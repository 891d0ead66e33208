import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeBench } from '../../scripts/kill-test.mjs'
import { blockedRun } from './blocked-kit.js'
import { cli } from './cli-kit.js'

let dir: string

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'trinity-blocked-'))
  await makeBench(dir, { cli, steps: 60 })
}, 120_000)
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const LOOP = 'console.log("now"); for (;;) JSON.parse("[1]")'

describe('a loop, and what comes from outside', { timeout: 300_000 }, () => {
  it('two Ctrl-C end the process although nobody hears them', async () => {
    let sent = 0
    const { code, signal } = await blockedRun(dir, 'interrupt', LOOP, [], (text, child) => {
      if (!text.includes('now') || sent > 0) return
      sent++
      for (const ms of [1500, 2000]) setTimeout(() => child.kill('SIGINT'), ms)
    })
    expect([code, signal]).toEqual([130, null])
  })

  it('SIGTERM breaks the loop long before its limit, and saves', async () => {
    let isSent = false
    const { code, stderr } = await blockedRun(dir, 'term', LOOP, [], (text, child) => {
      if (!text.includes('now') || isSent) return
      isSent = true
      setTimeout(() => child.kill('SIGTERM'), 1500)
    })
    expect([code, stderr]).toEqual([1, expect.stringContaining('did not let go of the event loop')])
  })

  it.each([
    ['a pattern that goes back and forth', `/^(a+)+$/.test('a'.repeat(60) + 'b')`],
    ['a loop in a timer', `await new Promise(() => setTimeout(() => { for (;;); }, 1))`],
    [
      'a loop where hooks count',
      `const { AsyncLocalStorage } = await import('node:async_hooks')
       await new AsyncLocalStorage().run(1, async () => { await null; for (;;); })`,
    ],
  ])('%s ends with 1 and its place', async (name, deed) => {
    const { code, stderr, stdout, plugin } = await blockedRun(dir, name, deed, ['explorer.max_timeout=2'])
    expect(code, stdout + stderr).toBe(1)
    expect(stderr).toMatch(new RegExp(`${plugin}:\\d+:\\d+`))
  })

  it('a process that was stopped for longer than the limit goes on', async () => {
    let stopped = false
    const { code } = await blockedRun(dir, 'sleep', '', ['explorer.max_timeout=2'], (text, child) => {
      if (!text.includes('trainer  step 2') || stopped) return
      stopped = true
      child.kill('SIGSTOP')
      setTimeout(() => child.kill('SIGCONT'), 6000)
    })
    expect([code, stopped]).toEqual([0, true])
  })
})
