import { spawn } from 'node:child_process'
import { readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { hostname, uptime } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { tempDir } from '../../test/trainer/kit.js'
import { JobLock, lockHolders } from './lock.js'

/** Error that the next write of a lock fails with, after half of its text. */
let failWrite: Error | undefined
vi.mock('node:fs/promises', async (original) => {
  const fs = await original<typeof import('node:fs/promises')>()
  return {
    ...fs,
    async writeFile(path: string, text: string, options: object) {
      if (failWrite === undefined) return fs.writeFile(path, text, options)
      await fs.writeFile(path, text.slice(0, text.length / 2), options)
      throw failWrite
    },
  }
})
afterEach(() => {
  failWrite = undefined
})

const inUse = expect.objectContaining({ code: 'checkpoint/in-use' })

it('one process per role', async () => {
  const dir = await tempDir()
  const trainer = await JobLock.take(dir, 'trainer')
  await expect(JobLock.take(dir, 'trainer')).rejects.toThrowError(inUse)
  const explorer = await JobLock.take(dir, 'explorer')
  await trainer.release()
  await (await JobLock.take(dir, 'trainer')).release()
  await explorer.release()
  expect(await readdir(dir)).toEqual([])
})

/** The number of a process that has just died. */
async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['-e', ''])
  await new Promise((resolve) => child.once('exit', resolve))
  return child.pid!
}

const holder = (pid: number, change: object = {}) =>
  JSON.stringify({ token: 'dead', pid, host: hostname(), born: '', ...change })

it('takes over from the dead, and only one of many does', async () => {
  const dir = await tempDir()
  await writeFile(join(dir, '.lock-trainer'), holder(await deadPid()))
  const takers = await Promise.allSettled(Array.from({ length: 25 }, () => JobLock.take(dir, 'trainer')))
  const won = takers.filter((taker) => taker.status === 'fulfilled')
  expect(won.length).toBe(1)
  for (const taker of takers) if (taker.status === 'rejected') expect(taker.reason).toEqual(inUse)
  expect(await readdir(dir)).toEqual(['.lock-trainer'])
  await won[0].value.release()
})

it.runIf(process.platform === 'linux')('takes over from a process that was killed and never reaped', async () => {
  const dir = await tempDir()
  // The shell becomes a program that does not ask what has become of its child, before the child ends.
  const parent = spawn('sh', ['-c', 'sleep 0.5 & echo $!; exec sleep 30'], { stdio: ['ignore', 'pipe', 'ignore'] })
  try {
    const pid = Number(await new Promise((resolve) => parent.stdout.once('data', (data) => resolve(String(data)))))
    const state = async () => (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1][0]
    while ((await state()) !== 'Z') await sleep(10)
    await writeFile(join(dir, '.lock-trainer'), holder(pid))
    await (await JobLock.take(dir, 'trainer')).release()
    expect(await readdir(dir)).toEqual([])
  } finally {
    parent.kill('SIGKILL')
  }
})

it('removes what killed processes have left half-done, and nothing of the living or of others', async () => {
  const dir = await tempDir()
  const dead = await deadPid()
  const old = new Date(Date.now() - 120_000)
  const put = async (name: string, text: string, time = new Date()) => {
    await writeFile(join(dir, name), text)
    await utimes(join(dir, name), time, time)
  }
  await put('.lock-explorer.0123456789abcdef', holder(dead))
  await put('.lock-explorer.takes-0123456789abcdef', holder(dead))
  await put('.lock-explorer.0123456789abcdee.copy', '', old)
  await put(`best_eval.json.${dead}-0123abcd.tmp`, '{', old)
  const stay = {
    [`.lock-explorer.${'a'.repeat(16)}`]: holder(process.pid),
    [`.lock-explorer.${'b'.repeat(16)}`]: holder(dead, { host: 'elsewhere' }),
    [`run_meta.json.${process.pid}-0123abcd.tmp`]: '{',
    [`run_meta.json.${dead}-0123abcd.tmp`]: '{',
    'mine.tmp': 'x',
    'notes.12.tmp': 'x',
  }
  for (const [name, text] of Object.entries(stay)) await put(name, text, name.includes(`.${dead}-`) ? undefined : old)
  await put(`.lock-explorer.${'b'.repeat(16)}`, holder(dead, { host: 'elsewhere' }))
  await (await JobLock.take(dir, 'trainer')).release()
  expect((await readdir(dir)).sort()).toEqual(Object.keys(stay).sort())
})

it('knows a new process with an old number', async () => {
  const dir = await tempDir()
  const reused = holder(process.pid, { born: '12345' })
  await writeFile(join(dir, '.lock-trainer'), reused)
  // Only Linux tells when a process was born; elsewhere the number is all there is.
  const known = await readFile('/proc/self/stat').then(
    () => true,
    () => false,
  )
  if (known) await (await JobLock.take(dir, 'trainer')).release()
  else await expect(JobLock.take(dir, 'trainer')).rejects.toThrowError(inUse)
})

it('a holder on another machine counts as long as it gives a sign of life', async () => {
  const dir = await tempDir()
  const path = join(dir, '.lock-trainer')
  await writeFile(path, holder(1, { host: 'elsewhere' }))
  await expect(JobLock.take(dir, 'trainer')).rejects.toThrowError(
    expect.objectContaining({ message: expect.stringContaining('on elsewhere') }),
  )
  await sleep(60)
  await (await JobLock.take(dir, 'trainer', 50)).release()
})

describe('who plays a role now', () => {
  it('is told without touching the locks', async () => {
    const dir = await tempDir()
    expect(await lockHolders(dir)).toEqual([])
    const lock = await JobLock.take(dir, 'trainer')
    const dead = { token: 't', pid: 2 ** 30, host: hostname(), born: '' }
    await writeFile(join(dir, '.lock-explorer'), JSON.stringify(dead))
    await writeFile(join(dir, '.lock-far'), JSON.stringify({ ...dead, host: 'another machine' }))
    const holders = (await lockHolders(dir)).sort((a, b) => (a.role < b.role ? -1 : 1))
    expect(holders).toEqual([
      { role: 'far', pid: 2 ** 30, host: 'another machine' },
      { role: 'trainer', pid: process.pid, host: hostname() },
    ])
    expect((await lockHolders(dir, -1)).map(({ role }) => role)).toEqual(['trainer'])
    expect((await readdir(dir)).sort()).toEqual(['.lock-explorer', '.lock-far', '.lock-trainer'])
    await lock.release()
  })
})

describe('a damaged lock file', () => {
  const damaged: [string, string][] = [
    ['empty', ''],
    ['cut off', holder(process.pid).slice(0, 30)],
    ['zeros', '\0'.repeat(80)],
    ['another object', '{}'],
    ['not an object', '[1]'],
  ]
  const put = async (dir: string, text: string, ageMs: number) => {
    const path = join(dir, '.lock-trainer')
    await writeFile(path, text)
    const time = new Date(Date.now() - ageMs)
    await utimes(path, time, time)
    return path
  }

  it.each(damaged)('is taken over once it is older than a live holder lets it become: %s', async (_, text) => {
    const dir = await tempDir()
    await put(dir, text, 120_000)
    const takers = await Promise.allSettled(Array.from({ length: 10 }, () => JobLock.take(dir, 'trainer')))
    const won = takers.filter((taker) => taker.status === 'fulfilled')
    expect(won).toHaveLength(1)
    for (const taker of takers) if (taker.status === 'rejected') expect(taker.reason).toEqual(inUse)
    expect(await readdir(dir)).toEqual(['.lock-trainer'])
    await won[0].value.release()
    expect(await readdir(dir)).toEqual([])
  })

  it.each(damaged)('is kept while it is younger, and named in the hint: %s', async (_, text) => {
    const dir = await tempDir()
    const path = await put(dir, text, 1000)
    const hint = expect.stringContaining(path)
    await expect(JobLock.take(dir, 'trainer')).rejects.toMatchObject({ code: 'checkpoint/lock', path, hint })
    expect(await readFile(path, 'utf8')).toBe(text)
    expect(await lockHolders(dir)).toEqual([])
    expect(await readdir(dir)).toEqual(['.lock-trainer'])
  })

  it('is taken over at once when it is older than the boot of the machine', async () => {
    const dir = await tempDir()
    await put(dir, '', 1000 + 1000 * uptime())
    await (await JobLock.take(dir, 'trainer', Infinity)).release()
  })

  it('does not become stale while its holder is alive, however old it is', async () => {
    const dir = await tempDir()
    await put(dir, holder(process.pid), 1e9)
    await expect(JobLock.take(dir, 'trainer')).rejects.toEqual(inUse)
  })

  it('leaves nothing behind and names the lock when the disk fails', async () => {
    const dir = await tempDir()
    failWrite = Object.assign(new Error('EIO: i/o error, write'), { code: 'EIO', syscall: 'write' })
    const path = join(dir, '.lock-trainer')
    await expect(JobLock.take(dir, 'trainer')).rejects.toMatchObject({ code: 'file/eio', path })
    expect(await readdir(dir)).toEqual([])
    failWrite = undefined
    await (await JobLock.take(dir, 'trainer')).release()
  })

  it.each([
    ['a list as its token', { token: [[1]] }],
    ['a token that is no part of a file name', { token: '../../x' }],
    ['a token that is too long', { token: 'a'.repeat(5000) }],
    ['no process', { pid: '1' }],
  ])('refuses a lock with %s by its path', async (_, damage) => {
    const dir = await tempDir()
    const path = join(dir, '.lock-trainer')
    const holder = { token: '0123456789abcdef', pid: 2 ** 22, host: 'elsewhere', born: '1', ...damage }
    await writeFile(path, JSON.stringify(holder))
    expect(await lockHolders(dir)).toEqual([])
    await expect(JobLock.take(dir, 'trainer', 60_000)).rejects.toMatchObject({ code: 'checkpoint/lock', path })
    expect(await readdir(dir)).toEqual(['.lock-trainer'])
  })
})
