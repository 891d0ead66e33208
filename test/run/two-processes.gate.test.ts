import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cli } from './cli-kit.js'

const root = resolve(import.meta.dirname, '../..')
const HOUR_MS = 3_600_000

let dir: string
const children: ChildProcess[] = []
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'trinity-two-'))
})
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  rmSync(dir, { recursive: true, force: true })
})

/** Starts one side of the example; `aheadMs`: by how much its clock is wrong. */
function start(side: 'explore' | 'train', set: Record<string, unknown>, aheadMs = 0) {
  const all = {
    checkpoint_root_dir: dir,
    'buffer.total_steps': 6,
    'buffer.batch_size': 4,
    'buffer.train_batch_size': 32,
    'buffer.trainer_input.experience_buffer.max_read_timeout': 45,
    'explorer.eval_interval': 0,
    'explorer.eval_on_startup': false,
    'monitor.monitor_type': 'jsonl',
    'synchronizer.sync_timeout': 45,
    ...set,
  }
  const wrong = join(dir, `clock${aheadMs}.mjs`)
  writeFileSync(wrong, `const now = Date.now\nDate.now = () => now() + ${aheadMs}\n`)
  const keys = Object.entries(all).flatMap(([key, value]) => ['--set', `${key}=${value}`])
  const args = ['--import', pathToFileURL(wrong).href, cli, 'run', '-c', `examples/two_processes/${side}.yaml`, ...keys]
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  children.push(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data))
  const ended = new Promise<{ code: number | null; output: string }>((done) =>
    child.on('close', (code) => done({ code, output })),
  )
  return { child, ended }
}

const jobDir = () => join(dir, 'quickstart', 'two_processes')

function status(name: string): { state?: string; step?: number } {
  try {
    return JSON.parse(readFileSync(join(jobDir(), `.status-${name}.json`), 'utf8'))
  } catch {
    return {}
  }
}

async function until(what: string, isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + 60_000
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error(`${what}: not within a minute`)
    await sleep(5)
  }
}

const starving = () => status('trainer').state === 'wants_experiences'

describe('two processes', { timeout: 200_000 }, () => {
  it('go on when the explorer is killed at its sync point and comes back late, its clock an hour ahead', async () => {
    const set = { 'synchronizer.sync_interval': 2 }
    const trainer = start('train', set)
    const first = start('explore', set, HOUR_MS)
    await until('the explorer waits for weights', () => status('explorer').state === 'wants_weights')
    first.child.kill('SIGKILL')
    await first.ended
    await until('the trainer has taken what there is', () => starving() && Number(status('trainer').step) >= 2)
    await sleep(2500)
    const second = start('explore', set, HOUR_MS)
    const [explored, trained] = await Promise.all([second.ended, trainer.ended])
    expect(explored).toMatchObject({ code: 0, output: expect.stringContaining('continues with the weights of') })
    expect(trained).toMatchObject({ code: 0 })
    expect(status('trainer')).toMatchObject({ state: 'ended', step: 6 })
  })

  it('go on when the trainer starts first, is killed, and has lost what it took: fixed, a clock an hour behind', async () => {
    // many: it may make some more before we get to kill it
    const total = 16
    const set = {
      'synchronizer.sync_style': 'fixed',
      'synchronizer.sync_interval': 1,
      'buffer.total_steps': total,
    }
    const first = start('train', set)
    await until('the trainer waits', starving)
    await sleep(2000)
    const explorer = start('explore', set, -HOUR_MS)
    await until('the trainer has made two steps', () => Number(status('trainer').step) >= 2)
    first.child.kill('SIGKILL')
    await first.ended
    const lost = Number(status('trainer').step)
    const second = start('train', set)
    const [explored, trained] = await Promise.all([explorer.ended, second.ended])
    expect(explored).toMatchObject({ code: 0, output: expect.stringContaining('continues with the weights of') })
    expect(trained).toMatchObject({ code: 0 })
    // What it had told of was lost, perhaps what it was about to tell, and none of the others.
    const { state, step } = status('trainer')
    expect(state).toBe('ended')
    expect(step).toBeGreaterThanOrEqual(total - lost - 2)
    expect(step).toBeLessThanOrEqual(total - lost)
  })
})
