import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { seeded } from '../../scripts/kill-test.mjs'
import { TrinityClient } from '../../src/serve/client.js'
import { fuzzSeed } from '../fuzz/draw.js'
import { ServeJob } from '../run/serve-process.js'
import { choosePoints, compileFreezer, readOperations, readStates } from './crash.js'

const CALLS = 8
const { CRASH_STATES = '6' } = process.env
const seed = fuzzSeed('sample')
/** Times of this process and of a copy that are nearer than this have no order, in milliseconds. */
const SAME_MS = 2

/** A reply that an agent got, its reward, and the time at which each arrived. */
interface Rated {
  readonly id: string
  readonly reward: number
  readonly repliedAt: number
  readonly ratedAt: number
}

describe.skipIf(process.platform !== 'linux')('a state that a killed server leaves behind', () => {
  const dir = mkdtempSync(join(tmpdir(), 'trinity-crash-serve-'))
  const root = join(dir, 'p')
  const copies = join(dir, 'states')
  let serve: ServeJob
  let library: string

  beforeAll(async () => {
    serve = await ServeJob.make(dir)
    library = compileFreezer(dir) as string
  })
  afterAll(() => {
    serve?.child?.kill('SIGKILL')
    rmSync(dir, { recursive: true, force: true })
  })

  /** Runs a server and an agent that rates each reply. */
  async function work(env: Record<string, string>): Promise<Rated[]> {
    rmSync(root, { recursive: true, force: true })
    const url = await serve.start([], { FREEZE_ROOT: root, LD_PRELOAD: library, ...env })
    const rated: Rated[] = []
    for (let call = 0; call < CALLS; call++) {
      const client = new TrinityClient(url)
      const body = JSON.stringify({ messages: [{ role: 'user', content: `${call}+1=` }], max_tokens: 4 })
      const headers = { 'content-type': 'application/json' }
      await (await client.fetch(`${client.baseURL}/chat/completions`, { method: 'POST', headers, body })).text()
      const repliedAt = Date.now()
      // feedback forgets the ids
      const [id] = client.ids
      await client.feedback(call)
      rated.push({ id, reward: call, repliedAt, ratedAt: Date.now() })
      if (call % 3 === 2) await client.commit()
    }
    expect(await serve.end('SIGTERM')).toBe(0)
    return rated
  }

  it('neither loses nor repeats what was rated', { timeout: 600_000 }, async () => {
    const trace = join(dir, 'trace')
    const plan = join(dir, 'plan')
    await work({ FREEZE_TRACE: trace })
    const points = choosePoints(readOperations(trace), seeded(seed), Number(CRASH_STATES))
    writeFileSync(plan, points.map((point) => `${point}\n`).join(''))
    mkdirSync(copies)
    const rated = await work({ FREEZE_TRACE: trace, FREEZE_PLAN: plan, FREEZE_OUT: copies })
    const states = readStates(copies)
    expect(states.length).toBeGreaterThan(0)
    for (const { at, time, folder } of states) {
      rmSync(root, { recursive: true, force: true })
      renameSync(folder, root)
      const url = await serve.start()
      const known = rated.filter(({ repliedAt }) => repliedAt + SAME_MS < time)
      for (const { id, reward, ratedAt } of known)
        if (ratedAt + SAME_MS >= time) await new TrinityClient(url).feedback(reward, { ids: [id] })
      await new TrinityClient(url).commit()
      expect(await serve.end('SIGTERM'), at).toBe(0)
      const rewards = await serve.takeRewards()
      const about = `PROPERTY_SEED=${seed}, ${at}`
      expect(new Set(rewards.map(([id]) => id)).size, about).toBe(rewards.length)
      expect(rewards, about).toEqual(expect.arrayContaining(known.map(({ id, reward }) => [id, reward])))
      const all = new Map(rated.map(({ id, reward }) => [id, reward]))
      for (const [id, reward] of rewards) expect(all.get(id), about).toBe(reward)
      expect(existsSync(join(root, 'job', '.lock-explorer')), about).toBe(false)
    }
  })
})
