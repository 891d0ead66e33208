import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { bundle } from '../../../../test/bundle.js'
import { runs } from '../../../../test/support/processes.js'
import { fakeJar, fakeJavaHome } from '../fake-java.fixture.js'
import type { Game } from './game.js'
import { type PoolSettings, poolOf, SimulatorPool } from './pool.js'

let jar: string
beforeAll(async () => {
  jar = await fakeJar()
  vi.stubEnv('JAVA_HOME', await fakeJavaHome())
  return () => vi.unstubAllEnvs()
})
const taken: Game[] = []
afterEach(() => {
  for (const { simulator } of taken.splice(0)) simulator.end()
})

/** Of one seat in each process, unless there is more memory. */
const poolWith = (settings: Partial<PoolSettings> = {}) =>
  new SimulatorPool({ jar, heapMb: 128, timeoutMs: 20_000, processes: 1, ...settings })
async function take(pool: SimulatorPool, signal?: AbortSignal): Promise<Game> {
  const game = await pool.take(signal)
  taken.push(game)
  return game
}
const pids = (games: readonly Game[]) => new Set(games.map(({ simulator }) => simulator.pid))
const isPending = async (promise: Promise<unknown>) =>
  (await Promise.race([promise, Promise.resolve('pending')])) === 'pending'

describe('SimulatorPool', () => {
  it('starts a process before a second game shares one, and no more than allowed', async () => {
    const pool = poolWith({ processes: 2, heapMb: 256 })
    const games = await Promise.all(Array.from({ length: 7 }, () => take(pool)))
    expect(pids(games).size).toBe(2)
    const [first] = games
    pool.release(first)
    pool.release(first)
    const next = await take(pool)
    expect(next.simulator.pid).toBe(first.simulator.pid)
  })

  it('who finds all seats taken waits in line; a signal ends the wait', async () => {
    const pool = poolWith()
    const first = await take(pool)
    const order: number[] = []
    const waiting = [1, 2].map((n) =>
      take(pool).then((game) => {
        order.push(n)
        return game
      }),
    )
    const control = new AbortController()
    const impatient = take(pool, control.signal)
    expect(await isPending(Promise.any(waiting))).toBe(true)
    control.abort(new Error('enough'))
    await expect(impatient).rejects.toThrow('enough')
    pool.release(first)
    pool.release(await waiting[0])
    await waiting[1]
    expect(order).toEqual([1, 2])
    await expect(take(pool, AbortSignal.abort(new Error('before')))).rejects.toThrow('before')
  })

  it('those who wait get a new process when the old one dies', async () => {
    const pool = poolWith()
    const first = await take(pool)
    const waiting = take(pool)
    process.kill(first.simulator.pid as number, 'SIGKILL')
    const second = await waiting
    expect(second.simulator.pid).not.toBe(first.simulator.pid)
    // The seat of a process that is gone is nobody's.
    pool.release(first)
    const third = take(pool)
    expect(await isPending(third)).toBe(true)
    pool.release(second)
    expect((await third).simulator.pid).toBe(second.simulator.pid)
  })

  it('a process without games ends after a while, and not before', async () => {
    const pool = poolWith({ idleMs: 300 })
    const { simulator } = await take(pool)
    pool.release(taken[0])
    const again = await take(pool)
    expect(again.simulator).toBe(simulator)
    await new Promise((resolve) => setTimeout(resolve, 400))
    expect(simulator.isAlive).toBe(true)
    pool.release(again)
    await expect.poll(() => runs(simulator.pid as number)).toBe(false)
    expect((await take(pool)).simulator.pid).not.toBe(simulator.pid)
  })

  it('fails for all who wait for a start that fails, and tries again for the next', async () => {
    const pool = poolWith({ heapMb: 256 })
    vi.stubEnv('JAVA_HOME', await fakeJavaHome('console.error("out of luck"); process.exit(1)'))
    const results = await Promise.allSettled([pool.take(), pool.take()])
    for (const { reason } of results as PromiseRejectedResult[]) {
      expect(reason).toMatchObject({
        code: 'environment/simulator-died',
        message: expect.stringContaining('exit code 1'),
      })
    }
    vi.stubEnv('JAVA_HOME', await fakeJavaHome())
    expect((await take(pool)).simulator.tasks).toEqual(['boil', 'find-plant', 'freeze'])
  })

  it('is shared by all who ask for the same', () => {
    const settings = { jar: '/a.jar', heapMb: 256, timeoutMs: 1, processes: 1 }
    expect(poolOf({ ...settings })).toBe(poolOf({ ...settings, log: () => {} }))
    expect(poolOf(settings)).not.toBe(poolOf({ ...settings, processes: 2 }))
  })

  it('its processes end when ours is killed', async () => {
    const program = await bundle(fileURLToPath(new URL('./owner.fixture.ts', import.meta.url)))
    const owner = spawn(process.execPath, [program, jar], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [said] = await once(owner.stdout, 'data')
    const pid = Number(said)
    expect(runs(pid)).toBe(true)
    owner.kill('SIGKILL')
    await expect.poll(() => runs(pid), { timeout: 10_000 }).toBe(false)
  })
})
