import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type FollowOptions, followLogs } from './follow.js'
import { openLogDir } from './log-dir.js'

describe('followLogs', () => {
  let dir: string
  let shown: string[]
  let end: AbortController
  let done: Promise<void>
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'trinity-follow-'))
    shown = []
    end = new AbortController()
    done = Promise.resolve()
  })
  afterEach(async () => {
    end.abort()
    await done
    rmSync(dir, { recursive: true, force: true })
  })

  const options = (extra: Partial<FollowOptions> = {}): FollowOptions => ({
    dirs: [dir],
    level: 'INFO',
    lastLines: 0,
    show: (file, { text }) => void shown.push(`${file}: ${text}`),
    gap: () => void shown.push('--'),
    pollMs: 5,
    scanMs: 10,
    ...extra,
  })
  const follow = (extra?: Partial<FollowOptions>) => {
    done = followLogs(options(extra), end.signal)
  }
  const add = (name: string, text: string) => appendFileSync(join(dir, name), text)
  const eventually = (lines: string[]) => vi.waitFor(() => expect(shown).toEqual(lines), { timeout: 5000, interval: 5 })

  it('shows what is written from now on, whole lines only', async () => {
    add('a.log', 'INFO old\n')
    follow()
    add('a.log', 'INFO hal')
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(shown).toEqual([])
    add('a.log', 'f ü\nDEBUG hidden\nWARN two\n')
    await eventually(['a: INFO half ü', 'a: WARN two'])
  })

  it('finds new files, reads them from their beginning, also below', async () => {
    follow({ keyword: 'runner' })
    add('explorer.log', 'INFO not this\n')
    mkdirSync(join(dir, '10.0.0.1'))
    add('10.0.0.1/runner_1.log', 'INFO first\nINFO second\n')
    await eventually(['10.0.0.1/runner_1: INFO first', '10.0.0.1/runner_1: INFO second'])
  })

  it('follows a file that is moved aside or begun anew', async () => {
    add('a.log', 'INFO 1\n')
    follow({ lastLines: 5 })
    await eventually(['a: INFO 1'])
    add('a.log', 'INFO 2\n')
    renameSync(join(dir, 'a.log'), join(dir, 'a.log.1'))
    add('a.log', 'INFO 3\n')
    await eventually(['a: INFO 1', 'a: INFO 2', 'a: INFO 3'])
    truncateSync(join(dir, 'a.log'))
    await new Promise((resolve) => setTimeout(resolve, 30))
    add('a.log', 'INFO 4\n')
    await eventually(['a: INFO 1', 'a: INFO 2', 'a: INFO 3', 'a: INFO 4'])
  })

  it('lets a line without a level belong to the one before it', async () => {
    writeFileSync(join(dir, 'a.log'), 'ERROR bad\n  at x\nDEBUG fine\n  detail\nWARNING hm\nInformation\n')
    await followLogs(options({ level: 'WARNING', lastLines: null }))
    expect(shown).toEqual(['a: ERROR bad', 'a:   at x', 'a: WARNING hm', 'a: Information'])
  })

  it('begins with the last lines, or with those around a text', async () => {
    const lines = Array.from(
      { length: 40 },
      (_, i) => `INFO line ${i}${i === 10 || i === 13 || i === 39 ? ' here' : ''}`,
    )
    writeFileSync(join(dir, 'a.log'), lines.join('\n'))
    await followLogs(options({ lastLines: 2 }))
    expect(shown).toEqual(['a: INFO line 38', 'a: INFO line 39 here'])
    shown = []
    await followLogs(options({ pattern: 'here' }))
    const around = (from: number, to: number) => lines.slice(from, to + 1).map((line) => `a: ${line}`)
    expect(shown).toEqual([...around(5, 18), '--', ...around(34, 39)])
  })

  it('shows what openLogDir writes', async () => {
    follow()
    const logs = openLogDir({ dir })
    logs.logger('trainer').error('failed', new Error('why'))
    await logs.close()
    await vi.waitFor(() => expect(shown.join('\n')).toContain('Error: why'), { timeout: 5000 })
    expect(shown[0]).toMatch(/^trainer: ERROR .* \[trainer\] failed$/)
  })
})
