import { spawn } from 'node:child_process'
import { expect } from 'vitest'
import { type GivenBuffer, openBuffer } from '../../src/buffer/index.js'

/** A worker process; see worker.ts. */
export function start(worker: string, what: string, config: GivenBuffer, name: string, count = 0) {
  const child = spawn(process.execPath, [worker, what, JSON.stringify(config), name, String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.on('data', (data) => (text += data))
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  const lines = () =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
  return { child, ended, lines }
}

/** Producers and takers at once: everything must come out, and each experience once. */
export async function crowd(worker: string, config: GivenBuffer): Promise<void> {
  // All producers are known before the first of them can finish.
  const buffer = await openBuffer(config, { job: 'project/job' })
  for (const who of ['p1', 'p2', 'p3']) await buffer.put([], { who })
  await buffer.close()
  const takers = ['t1', 't2', 't3'].map((name) => start(worker, 'take', config, name))
  const producers = ['p1', 'p2', 'p3'].map((name) => start(worker, 'put', config, name, 100))
  expect(await Promise.all(producers.map((p) => p.ended))).toEqual([0, 0, 0])
  expect(await Promise.all(takers.map((t) => t.ended))).toEqual([0, 0, 0])
  const got = takers.flatMap((taker) => taker.lines().slice(1).flat() as string[])
  const all = ['p1', 'p2', 'p3'].flatMap((p) => Array.from({ length: 100 }, (_, task) => `${p}/${task}/${task}`))
  expect(got.sort()).toEqual(all.sort())
}
