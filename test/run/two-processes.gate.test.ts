import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import Libsql from 'libsql'
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

/** Every step of the trainer is in its log once, and every experience was used once. */
function expectAllTrained(total: number): void {
  const lines = readFileSync(join(jobDir(), 'monitor', 'trainer.jsonl'), 'utf8')
    .trim()
    .split('\n')
  const steps = lines.map((line) => JSON.parse(line)).filter(({ metrics }) => 'actor/loss' in metrics)
  expect(steps.map(({ step }) => step)).toEqual(Array.from({ length: total }, (_, i) => i + 1))
  const db = new Libsql(join(jobDir(), 'experiences.db'))
  const uses = db.prepare('SELECT ready, consumed, count(*) AS n FROM experiences GROUP BY ready, consumed').all()
  db.close()
  expect(uses).toEqual([{ ready: 0, consumed: 1, n: 32 * total }])
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

  it('make all steps when the trainer starts first and is killed before it saves: fixed, a clock an hour behind', async () => {
    const total = 10
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
    const second = start('train', set)
    const [explored, trained] = await Promise.all([explorer.ended, second.ended])
    expect(explored).toMatchObject({ code: 0, output: expect.not.stringContaining('continues with the weights of') })
    expect(trained).toMatchObject({
      code: 0,
      output: expect.stringMatching(/experiences taken after training step 0 return/),
    })
    expect(status('trainer')).toMatchObject({ state: 'ended', step: total })
    expectAllTrained(total)
  })

  it('make all steps when the trainer is killed four times', async () => {
    const total = 12
    const set = { 'synchronizer.sync_interval': 2, 'buffer.total_steps': total, 'trainer.save_interval': 3 }
    const explorer = start('explore', set)
    // before its first checkpoint, in the middle of an interval twice, and while it waits or trains after one
    for (const step of [1, 5, 8, 10]) {
      const trainer = start('train', set)
      await until(`the trainer has made step ${step}`, () => Number(status('trainer').step) >= step)
      trainer.child.kill('SIGKILL')
      await trainer.ended
    }
    const last = start('train', set)
    const [explored, trained] = await Promise.all([explorer.ended, last.ended])
    expect(explored).toMatchObject({ code: 0 })
    expect(trained).toMatchObject({ code: 0 })
    expect(status('trainer')).toMatchObject({ state: 'ended', step: total })
    expectAllTrained(total)
  })

  it('make all steps when the explorer has ended before the trainer is killed', async () => {
    const total = 8
    const set = { 'synchronizer.sync_style': 'trainer_driven', 'buffer.total_steps': total, 'trainer.save_interval': 4 }
    const explored = await start('explore', set).ended
    expect(explored).toMatchObject({ code: 0 })
    for (const step of [2, 6]) {
      const trainer = start('train', set)
      await until(`the trainer has made step ${step}`, () => Number(status('trainer').step) >= step)
      trainer.child.kill('SIGKILL')
      await trainer.ended
    }
    expect(await start('train', set).ended).toMatchObject({ code: 0 })
    expect(status('trainer')).toMatchObject({ state: 'ended', step: total })
    expectAllTrained(total)
  })
})
