import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { withKeys } from '../../test/config-kit.js'
import { Checkpoints } from '../checkpoint/index.js'
import { FinishMarker } from './marker.js'

let checkpoints: Checkpoints
let dir: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'trinity-marker-'))
  checkpoints = await Checkpoints.open({ dir })
})
afterAll(() => rm(dir, { recursive: true, force: true }))
const marker = (keys: Record<string, unknown>) => new FinishMarker(checkpoints, withKeys(keys))

it('remembers the end that a run got to, and no other', async () => {
  const goal = { 'buffer.total_steps': 10 }
  expect(await marker(goal).read()).toBeUndefined()
  await marker(goal).write(10)
  expect(await marker(goal).read()).toBe(10)
  // more is asked for now: the run goes on
  expect(await marker({ 'buffer.total_steps': 20 }).read()).toBeUndefined()
  expect(await marker({ ...goal, 'trainer.total_steps': 5 }).read()).toBeUndefined()
})
