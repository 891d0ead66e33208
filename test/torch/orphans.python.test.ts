import { execFileSync, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundle } from '../bundle.js'
import { torchTestPython } from '../support/python.js'

const python = torchTestPython()
const root = resolve(import.meta.dirname, '../..')

function children(parent: number): number[] {
  const table = execFileSync('ps', ['-eo', 'pid=,ppid=,stat='], { encoding: 'utf8' })
  return table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, ppid, stat]) => Number(ppid) === parent && !stat.startsWith('Z'))
    .map(([pid]) => Number(pid))
    .filter((pid) => isWorker(pid))
}

function isWorker(pid: number): boolean {
  try {
    return execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).includes('-m tests.fake')
  } catch {
    return false
  }
}

describe.skipIf(python.absent)(`no worker outlives its owner${python.note}`, () => {
  let script = ''
  beforeAll(async () => {
    script = await bundle(join(import.meta.dirname, 'owner.ts'))
  })
  afterAll(() => rmSync(dirname(script), { recursive: true }))

  it.each([
    ['idle', undefined, 0, 1],
    ['exit', undefined, 0, 1],
    ['throw', undefined, 1, 1],
    ['wait', 'SIGINT', null, 1],
    ['wait', 'SIGKILL', null, 2],
  ] as const)(
    'owner: %s, signal %s',
    async (way, signal, code, devices) => {
      // PYTHONPATH: the bundle lies elsewhere than the package
      const env = { ...process.env, PYTHONPATH: join(root, 'python') }
      const owner = spawn(process.execPath, [script, python.path, way, String(devices)], {
        env,
        stdio: ['pipe', 'pipe', 'pipe'],
      })
      let said = ''
      owner.stderr.on('data', (text) => {
        said += text
      })
      const ended = new Promise<number | null>((done) => owner.on('exit', done))
      await new Promise((done) => owner.stdout.once('data', done))
      const workers = children(owner.pid!)
      expect(workers, said).toHaveLength(devices)
      // it goes on once its workers are counted
      owner.stdin.write('\n')
      if (signal) owner.kill(signal)
      expect(await ended, said).toBe(code)
      await expect.poll(() => workers.filter(isWorker), { timeout: 10_000 }).toEqual([])
    },
    60_000,
  )
})
