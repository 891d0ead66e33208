import { execFileSync, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundle } from '../bundle.js'
import { runs } from '../support/processes.js'
import { testPython } from '../support/python.js'

const python = testPython('gymnasium')

/** All that a process has started: the worker, its watch, and what the environment started. */
function startedBy(owner: number): number[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n')
  const table = lines.map((line) => line.trim().split(/\s+/).map(Number))
  const below = (parent: number): number[] =>
    table.filter(([, one]) => one === parent).flatMap(([pid]) => [pid, ...below(pid)])
  return below(owner)
}

describe.skipIf(python.absent)(`no worker of worlds outlives its owner${python.note}`, () => {
  let script = ''
  beforeAll(async () => {
    script = await bundle(join(import.meta.dirname, 'owner.ts'))
  })
  afterAll(() => rmSync(dirname(script), { recursive: true }))

  it.each([
    ['idle', undefined, 0],
    ['exit', undefined, 0],
    ['throw', undefined, 1],
    ['hang', 'SIGINT', null],
    ['hang', 'SIGKILL', null],
    ['spin', 'SIGKILL', null],
  ] as const)('owner: %s, signal %s', async (way, signal, code) => {
    // PYTHONPATH: the bundle lies elsewhere than the package
    const env = { ...process.env, PYTHONPATH: resolve(import.meta.dirname, '../../python') }
    const owner = spawn(process.execPath, [script, python.path, way], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    owner.stderr.on('data', (text) => {
      said += text
    })
    const ended = new Promise<number | null>((done) => owner.on('exit', done))
    const child = Number(await new Promise((done) => owner.stdout.once('data', done)))
    const started = startedBy(owner.pid as number)
    if (way !== 'idle') expect(started, said).toContain(child)
    if (signal) {
      // in the middle of the step
      await sleep(300)
      owner.kill(signal)
    }
    expect(await ended, said).toBe(code)
    await expect.poll(() => [child, ...started].filter(runs), { timeout: 10_000 }).toEqual([])
  })
})
