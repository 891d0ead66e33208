import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GivenBuffer, openBuffer, type Repair } from '../../src/buffer/index.js'
import { bundle } from '../bundle.js'
import { crowd, start } from './crowd.js'

const folder = mkdtempSync(join(tmpdir(), 'trinity-processes-'))
let worker: string
beforeAll(async () => {
  worker = await bundle(new URL('./worker.ts', import.meta.url).pathname)
})
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
  rmSync(join(worker, '..'), { recursive: true, force: true })
})

describe('several processes on one SQLite file', () => {
  it('hand every experience out once', async () => {
    await crowd(worker, { name: 'experience_buffer', storage_type: 'sql', path: `sqlite:///${folder}/crowd.db` })
  }, 60_000)
})

describe.each([
  ['SQLite', 'sql', (i: number) => `sqlite:///${folder}/killed${i}.db`],
  ['a queue with SQLite', 'queue', (i: number) => `sqlite:///${folder}/killedq${i}.db`],
  ['a queue with JSONL', 'queue', (i: number) => `${folder}/killed${i}.jsonl`],
])('kill -9 while putting into %s', (_, storage_type, path) => {
  it('loses nothing that was confirmed', async () => {
    for (let round = 0; round < 3; round++) {
      const config: GivenBuffer = { name: 'b', storage_type, path: path(round) }
      const { child, ended, lines } = start(worker, 'put-forever', config, 'killed')
      await expect.poll(() => lines().length, { timeout: 20_000, interval: 5 }).toBeGreaterThan(1)
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 60))
      child.kill('SIGKILL')
      await ended
      const confirmed = lines().at(-1) as number

      const repairs: Repair[] = []
      const buffer = await openBuffer(config, { job: 'project/job', onRepair: (repair) => repairs.push(repair) })
      const stored = storage_type === 'sql' ? await storedInTable(buffer, confirmed) : await storedInFile(config.path!)
      // What was under way may be there too, but nothing may be missing or damaged.
      expect(stored.slice(0, confirmed + 1)).toEqual(Array.from({ length: confirmed + 1 }, (_, task) => task))
      expect(stored.length).toBeLessThanOrEqual(confirmed + 4)
      await buffer.put([])
      await buffer.close()
    }
  }, 60_000)
})

async function storedInTable(buffer: Awaited<ReturnType<typeof openBuffer>>, confirmed: number) {
  const { ready } = await buffer.state()
  expect(ready).toBeGreaterThan(confirmed)
  return (await buffer.take(ready)).map((experience) => experience.eid.task)
}

/** A queue's file read as any reader would: all lines or rows. */
async function storedInFile(path: string) {
  if (!path.startsWith('sqlite:')) {
    const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1)
    return lines.map((line) => JSON.parse(line).eid.task)
  }
  const file = path.replace('sqlite:///', '')
  expect(existsSync(file)).toBe(true)
  const rows = await openBuffer({ name: 'b', storage_type: 'sql', path }, { job: 'project/job' })
  const { ready } = await rows.state()
  const taken = await rows.take(ready)
  await rows.close()
  return taken.map((experience) => experience.eid.task)
}
