import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openBuffer } from '../../src/buffer/index.js'
import { createModel } from '../../src/model/index.js'
import { TrinityClient } from '../../src/serve/client.js'
import { cli } from './cli-kit.js'

const KILLS = 4
const dir = mkdtempSync(join(tmpdir(), 'trinity-serve-'))
const job = join(dir, 'p', 'job')
const urlFile = join(job, 'explorer_server_url.txt')
let child: ChildProcess | undefined
afterAll(() => {
  child?.kill('SIGKILL')
  rmSync(dir, { recursive: true, force: true })
})

beforeAll(async () => {
  const tokenizer = { kind: 'chars', characters: '0123456789+=' } as const
  await createModel({ out: join(dir, 'model'), layers: 1, hidden: 16, heads: 2, maxPositions: 64, tokenizer })
  writeFileSync(
    join(dir, 'serve.yaml'),
    `mode: serve
project: p
name: job
checkpoint_root_dir: ${dir}
algorithm: {algorithm_type: grpo}
model: {model_path: ${dir}/model, max_model_len: 64, custom_chat_template: "{% for m in messages %}{{ m['content'] }}{% endfor %}"}
buffer: {train_batch_size: 4, trainer_input: {experience_buffer: {name: b, storage_type: sql}}}
explorer: {proxy_port: 0, service_status_check_interval: 1, rollout_model: {engine_type: native}}
monitor: {monitor_type: jsonl}
`,
  )
})

/** Starts the server; its clock is wrong by so much. Gives its URL. */
async function start(aheadMs: number): Promise<string> {
  rmSync(urlFile, { force: true })
  const wrong = join(dir, 'clock.mjs')
  writeFileSync(wrong, `const now = Date.now\nDate.now = () => now() + ${aheadMs}\n`)
  const args = ['--import', pathToFileURL(wrong).href, cli, 'run', '-c', join(dir, 'serve.yaml')]
  child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  child.stderr!.on('data', (data) => (errors += data))
  for (let waited = 0; waited < 600; waited++) {
    if (child.exitCode !== null) throw new Error(errors)
    try {
      return readFileSync(urlFile, 'utf8')
    } catch {
      await sleep(50)
    }
  }
  throw new Error(`no server: ${errors}`)
}

/** Leaves the lock as a power failure does, whose file was not yet on the disk. */
function damageLock(): void {
  const lock = join(job, '.lock-explorer')
  expect(existsSync(lock)).toBe(true)
  truncateSync(lock)
  const then = Date.now() / 1000 - 3600
  utimesSync(lock, then, then)
}

const gone = () => new Promise((resolve) => child!.once('close', resolve))

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
    child!.kill('SIGKILL')
    await gone()
    await ended
    if (round === KILLS - 1) damageLock()
  }
  const url = await start(0)
  for (const [id, reward] of expected) {
    if (!told.has(id)) await new TrinityClient(url).feedback(reward, { ids: [id] })
  }
  await new TrinityClient(url).commit()
  const metrics = await new TrinityClient(url).metrics()
  child!.kill('SIGTERM')
  await gone()
  expect(child!.exitCode).toBe(0)
  const path = `sqlite:///${join(job, 'buffer', 'b.db')}`
  const buffer = await openBuffer({ name: 'b', storage_type: 'sql', path, max_read_timeout: 5 }, {})
  await buffer.finish('explorer')
  const taken = await buffer.take(1_000_000)
  await buffer.close()
  const rewards = taken.map(({ eid, reward }) => [eid.suffix, reward])
  expect(expected.size).toBeGreaterThan(20)
  expect(new Map(rewards as [string, number][])).toEqual(expected)
  expect(rewards).toHaveLength(expected.size)
  expect(metrics['rollout/ready_experience_count']).toBe(expected.size)
})
