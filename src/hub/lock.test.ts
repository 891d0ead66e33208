import { existsSync } from 'node:fs'
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { withLock } from './lock.js'

let dir: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'trinity-test-'))
})
afterAll(() => rm(dir, { recursive: true, force: true }))

describe('withLock', () => {
  it('lets one in at a time, and leaves nothing behind', async () => {
    const path = join(dir, 'a.lock')
    let inside = 0
    let most = 0
    const work = async () => {
      most = Math.max(most, ++inside)
      await new Promise((resolve) => setTimeout(resolve, 5))
      inside--
    }
    await Promise.all([withLock(path, work), withLock(path, work), withLock(path, work)])
    expect([most, existsSync(path)]).toEqual([1, false])
    await expect(withLock(path, () => Promise.reject(new Error('x')))).rejects.toThrow('x')
    expect(existsSync(path)).toBe(false)
  })

  it('takes over from a process that died', async () => {
    const path = join(dir, 'b.lock')
    await writeFile(path, '')
    const longAgo = new Date(Date.now() - 60_000)
    await utimes(path, longAgo, longAgo)
    expect(await withLock(path, async () => 'in')).toBe('in')
  })

  it('can be given up', async () => {
    const path = join(dir, 'c.lock')
    await writeFile(path, '')
    await expect(withLock(path, async () => 'in', AbortSignal.timeout(30))).rejects.toThrow()
  })
})
