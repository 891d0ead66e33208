import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { TrinityClient } from '../../src/serve/client.js'
import { damageLocks } from '../crash/crash.js'
import { ServeJob } from './serve-process.js'

const KILLS = 4
const dir = mkdtempSync(join(tmpdir(), 'trinity-serve-'))
let serve: ServeJob
afterAll(() => {
  serve?.child?.kill('SIGKILL')
  rmSync(dir, { recursive: true, force: true })
})

beforeAll(async () => {
  serve = await ServeJob.make(dir)
})

/** Starts the server; its clock is wrong by so much. Gives its URL. */
function start(aheadMs: number): Promise<string> {
  const wrong = join(dir, 'clock.mjs')
  writeFileSync(wrong, `const now = Date.now\nDate.now = () => now() + ${aheadMs}\n`)
  return serve.start(['--import', pathToFileURL(wrong).href])
}

it('killed again and again: what has feedback is neither lost nor counted twice', { timeout: 240_000 }, async () => {
  /** What the agent knows: each reply that it got, and what it said of it, until it has heard that this has arrived. */
  const expected = new Map<string, number>()
  const told = new Set<string>()
  for (let round = 0; round < KILLS; round++) {
    const url = await start((round % 2 ? -1 : 1) * 3_600_000)
    const client = new TrinityClient(url)
    const tell = async () => {
      for (const [id, reward] of expected) {
        if (told.has(id)) continue
        await new TrinityClient(url, { taskId: id.slice(-6) }).feedback(reward, { ids: [id] })
        told.add(id)
      }
    }
    // what was under way when the server died is said again
    await tell()
    const work = async (i: number) => {
      for (let call = 0; ; call++) {
        const body = {
          messages: [{ role: 'user', content: `${i}+${call % 10}=` }],
          max_tokens: 4,
          stream: call % 2 === 0,
        }
        const headers = { 'content-type': 'application/json' }
        const own = new TrinityClient(url)
        const request = { method: 'POST', headers, body: JSON.stringify(body) }
        await (await own.fetch(`${own.baseURL}/chat/completions`, request)).text()
        const [id] = own.ids
        expected.set(id, call % 5)
        await own.feedback(call % 5)
        told.add(id)
        // feedback that comes again
        if (call % 3 === 0) await own.feedback(-1, { ids: [id] })
      }
    }
    const commits = async () => {
      for (;;) await client.commit()
    }
    const all = [commits(), ...Array.from({ length: 6 }, (_, i) => work(i))]
    const ended = Promise.allSettled(all)
    // killed while it works, however slow the machine is
    const before = expected.size
    while (expected.size < before + 10) await sleep(5)
    await sleep(37 * round)
    await serve.end('SIGKILL')
    await ended
    if (round === KILLS - 1) expect(damageLocks(serve.job, 'empty')).toBe(true)
  }
  const url = await start(0)
  for (const [id, reward] of expected) {
    if (!told.has(id)) await new TrinityClient(url).feedback(reward, { ids: [id] })
  }
  await new TrinityClient(url).commit()
  const metrics = await new TrinityClient(url).metrics()
  expect(await serve.end('SIGTERM')).toBe(0)
  const rewards = await serve.takeRewards()
  expect(expected.size).toBeGreaterThan(20)
  expect(new Map(rewards)).toEqual(expected)
  expect(rewards).toHaveLength(expected.size)
  expect(metrics['rollout/ready_experience_count']).toBe(expected.size)
})
