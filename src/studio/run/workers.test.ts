import { mkdir, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tempDir } from '../../../test/support/temp-dir.js'
import { recordEval } from '../../checkpoint/best-eval.js'
import { runId } from './find.js'
import { summarize } from './summary.js'
import { workersOf } from './workers.js'

async function bench(dir: string, more: object): Promise<void> {
  await mkdir(join(dir, '.trinity'), { recursive: true })
  const record = { pid: process.pid, host: hostname(), began: '2026-01-01', expects: {}, config: { mode: 'bench' } }
  await writeFile(join(dir, '.trinity', 'run-bench.json'), JSON.stringify({ ...record, ...more }))
}

it('an evaluation is running while its process is there, and finished when it says so', async () => {
  const dir = await tempDir()
  const state = async () => (await summarize({ id: runId(dir), path: dir, root: dir })).state
  await bench(dir, {})
  expect([await workersOf(dir), await state()]).toEqual([
    [{ role: 'bench', pid: process.pid, host: hostname() }],
    'running',
  ])
  await bench(dir, { pid: 2 ** 30 })
  expect([await workersOf(dir), await state()]).toEqual([[], 'stopped'])
  await bench(dir, { end: { how: 'finished', at: '2026-01-02' } })
  expect([await workersOf(dir), await state()]).toEqual([[], 'finished'])
})

it('its score is that of the run; beside a training run its process is not that of the run', async () => {
  const dir = await tempDir()
  await bench(dir, {})
  await mkdir(join(dir, 'bench'))
  await recordEval(join(dir, 'bench'), 0, { 'bench/a/accuracy/mean@1': 0.5 })
  expect((await summarize({ id: runId(dir), path: dir, root: dir })).evaluation?.best.score).toBe(0.5)
  const trained = { began: '2025-01-01', expects: {}, config: { mode: 'both' } }
  await writeFile(join(dir, '.trinity', 'run-both.json'), JSON.stringify(trained))
  expect(await workersOf(dir)).toEqual([])
})
