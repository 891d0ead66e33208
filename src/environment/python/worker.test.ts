import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { runs } from '../../../test/support/processes.js'
import { tempDir } from '../../../test/support/temp-dir.js'
import { fakeWorker } from './fake-worker.fixture.js'
import { WorkerPool } from './pool.js'
import { WorldWorker } from './worker.js'

let python = ''
beforeAll(async () => {
  python = await fakeWorker(await tempDir())
})
const workers: WorldWorker[] = []
afterEach(() => {
  for (const { pid, isAlive } of workers.splice(0)) if (isAlive && pid) process.kill(pid, 'SIGKILL')
})
const start = (idleMs?: number) => {
  const worker = new WorldWorker({ python, idleMs })
  workers.push(worker)
  return worker
}
const step = (worker: WorldWorker, given: unknown, timeoutMs = 20_000) =>
  worker.call({ op: 'step', slot: 1, given, what: `lake: ${String(given).slice(0, 20)}`, timeoutMs })

describe('WorldWorker', () => {
  it('sends the calls of one turn together, and each gets its own answer', async () => {
    const worker = start()
    await step(worker, 'warm')
    const answers = await Promise.all(['a', 'b', 'c'].map((given) => step(worker, given)))
    expect(answers.map(({ given, batch }) => [given, batch])).toEqual([
      ['a', 3],
      ['b', 3],
      ['c', 3],
    ])
  })

  it('an error of one call carries the traceback, and the others go on', async () => {
    const worker = start()
    const [bad, good] = await Promise.allSettled([step(worker, 'fail'), step(worker, 'a')])
    expect(bad).toMatchObject({ reason: { code: 'environment/failed', message: 'lake: fail: ValueError: no' } })
    expect(String((bad as PromiseRejectedResult).reason.cause)).toMatch(/the traceback ends:\s+line 1\s+line 2/)
    expect(good.status).toBe('fulfilled')
  })

  it('a death fails what was under way with the last lines, and what comes later', async () => {
    const worker = start()
    const ends = await Promise.allSettled([step(worker, 'die'), step(worker, 'a')])
    for (const end of ends) {
      expect(end).toMatchObject({
        reason: { code: 'environment/worker-died', message: expect.stringMatching('code 7') },
      })
      expect(String((end as PromiseRejectedResult).reason.cause)).toContain('Segmentation fault')
    }
    expect(worker.isAlive).toBe(false)
    await expect(step(worker, 'a')).rejects.toMatchObject({ code: 'environment/worker-died' })
  })

  it('a call that hangs is named, its worker killed, the others told so', async () => {
    const worker = start()
    await step(worker, 'warm')
    const pid = worker.pid as number
    const ends = await Promise.allSettled([step(worker, 'hang', 300), step(worker, 'a', 300)])
    expect(ends).toMatchObject([
      {
        reason: { code: 'environment/timeout', message: expect.stringContaining('lake: hang: no answer within 0.3 s') },
      },
      { reason: { code: 'environment/worker-died', message: expect.stringContaining('because of lake: hang') } },
    ])
    await expect.poll(() => runs(pid)).toBe(false)
  })

  it('a long queue is no hang: the time counts from the last answer', async () => {
    const worker = start()
    await step(worker, 'warm')
    const slow = await Promise.all(Array.from({ length: 5 }, () => step(worker, 'slow', 600)))
    expect(slow).toHaveLength(5)
  })

  it.each(['junk', 'stray'])('%s in the stream ends it', async (given) => {
    const worker = start()
    await expect(step(worker, given)).rejects.toMatchObject({ code: 'environment/frame' })
    expect(worker.isAlive).toBe(false)
  })

  it('says when Python cannot be started', async () => {
    const worker = new WorldWorker({ python: '/no/such/python' })
    await expect(step(worker, 'a')).rejects.toMatchObject({ code: 'environment/python', path: '/no/such/python' })
  })

  it('refuses what is too long without breaking', async () => {
    const worker = start()
    await expect(step(worker, 'x'.repeat(20_000_000))).rejects.toMatchObject({ code: 'environment/too-large' })
    expect(await step(worker, 1n)).toMatchObject({ given: 1 })
  })

  it('is kept without worlds for a while only', async () => {
    const worker = start(50)
    const slot = worker.takeSlot()
    await new Promise((resolve) => setTimeout(resolve, 150))
    expect(worker.isAlive).toBe(true)
    worker.freeSlot(slot)
    await expect.poll(() => runs(worker.pid as number)).toBe(false)
    expect(worker.isAlive).toBe(false)
  })
})

describe('WorkerPool', () => {
  it('starts as many as it may, spreads worlds over them, and replaces the dead', async () => {
    const pool = new WorkerPool(2, { python })
    const take = () => {
      const worker = pool.worker()
      worker.takeSlot()
      if (!workers.includes(worker)) workers.push(worker)
      return worker
    }
    const [a, b, c, d] = [take(), take(), take(), take()]
    expect(new Set([a, b]).size).toBe(2)
    expect(new Set([c, d])).toEqual(new Set([a, b]))
    await step(a, 'die').catch(() => {})
    const [e, f] = [take(), take()]
    expect([a, b]).not.toContain(e)
    expect(f).toBe(e)
    expect(pool.pids.sort()).toEqual([b.pid, e.pid].sort())
  })
})
