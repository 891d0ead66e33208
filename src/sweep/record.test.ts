import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tempDir } from '../../test/support/temp-dir.js'
import type { PlannedRun } from './plan.js'
import { recordSweep } from './record.js'

it('keeps a sweep from going on with runs that are other ones', async () => {
  const dir = await tempDir()
  const planOf = (lr: number, steps = 3, more: object = {}) => {
    const config = { algorithm: { optimizer: { lr } }, buffer: { total_steps: steps, ...more } }
    const run = { id: 'a', arm: 'a', file: 'c.yaml', set: [], dir: join(dir, 'a'), config }
    return { name: 's', dir, runs: [run as unknown as PlannedRun] }
  }
  await recordSweep(planOf(1), false)
  // nothing was begun: it may still change
  await recordSweep(planOf(2), false)
  mkdirSync(join(dir, 'a'))
  await recordSweep(planOf(2, 9, { key_of_a_later_release: 1 }), false)
  await expect(recordSweep(planOf(3), false)).rejects.toMatchObject({
    code: 'config/sweep',
    message: expect.stringContaining('a was begun with other values: algorithm.optimizer.lr: 2 → 3'),
  })
  await recordSweep(planOf(3), true)
  const { runs } = JSON.parse(readFileSync(join(dir, 'sweep.json'), 'utf8'))
  expect(runs.a).toMatchObject({ file: 'c.yaml', settings: { 'algorithm.optimizer.lr': 3 } })
})
