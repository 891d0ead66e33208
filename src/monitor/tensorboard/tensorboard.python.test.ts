import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { testPython } from '../../../test/support/python.js'
import { TensorBoardMonitor } from './tensorboard.js'

const dir = mkdtempSync(join(tmpdir(), 'trinity-tb-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

async function run(now: number, rewind: number | undefined, steps: number[]): Promise<void> {
  const monitor = new TensorBoardMonitor(dir, () => now)
  if (rewind !== undefined) monitor.rewind(rewind)
  for (const step of steps) monitor.log({ 'critic/score/mean': step / 10 + (rewind ?? 0) }, step)
  await monitor.close()
}

const python = testPython('tensorboard')
describe.skipIf(python.absent)(`the tensorboard package${python.note}`, () => {
  it('reads what was written, without what a restart wrote again', { timeout: 120_000 }, async () => {
    await run(10_000_000, undefined, [1, 2, 3])
    await run(11_000_000, 1, [2, 3, 4])
    const script = `
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1])
events.Reload()
print(json.dumps([[e.step, round(e.value, 4)] for e in events.Scalars('critic/score/mean')]))`
    const { stdout, stderr } = spawnSync(python.path, ['-c', script, dir], { encoding: 'utf8' })
    expect(stdout, stderr).not.toBe('')
    expect(JSON.parse(stdout)).toEqual([
      [1, 0.1],
      [2, 1.2],
      [3, 1.3],
      [4, 1.4],
    ])
  })
})
