import { mkdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { withKeys } from '../../test/config-kit.js'
import { tempDir } from '../../test/support/temp-dir.js'
import { settingsOf } from './changed.js'
import { otherSettings, settingsOfCheckpoint } from './other-settings.js'
import { RunRecorder } from './record.js'

const settings = (keys: Record<string, unknown>) => JSON.parse(JSON.stringify(settingsOf(withKeys(keys))))

it('names what was changed, not what follows from it or is bound to change', () => {
  const before = settings({ 'buffer.batch_size': 16, 'buffer.total_steps': 7, 'algorithm.optimizer.lr': 2e-4 })
  const now = settings({ 'buffer.batch_size': 8, 'buffer.total_steps': 9, 'algorithm.optimizer.lr': 1e-3 })
  expect(otherSettings(before, now).sort()).toEqual([
    'algorithm.optimizer.lr 0.0002 → 0.001',
    'buffer.batch_size 16 → 8',
  ])
  expect(otherSettings(before, before)).toEqual([])
  expect(otherSettings(settings({ 'model.max_model_len': 64 }), settings({ 'model.max_model_len': 32 }))).toEqual([
    'model.max_model_len 64 → 32',
  ])
})

it('tells arguments and data sets that only one of them has, but no key that another release does not know', () => {
  expect(otherSettings({ 'buffer.new_key': null }, { 'algorithm.newer_key': 1 })).toEqual([])
  expect(otherSettings({}, { 'algorithm.policy_loss_fn_args.clip_range': 0.3 })).toEqual([
    'algorithm.policy_loss_fn_args.clip_range unset → 0.3',
  ])
})

it('are those of the process that made the newest checkpoint, whoever failed after it', async () => {
  const dir = await tempDir()
  expect(await settingsOfCheckpoint(dir)).toBeUndefined()
  const start = async (second: number, batch: number) => {
    const before = await settingsOfCheckpoint(dir)
    const config = withKeys({ 'buffer.batch_size': batch })
    await new RunRecorder(dir, config, new Date(second * 1000), undefined, before).end('failed')
  }
  const batch = async () => (await settingsOfCheckpoint(dir))?.['buffer.batch_size']
  await start(100, 16)
  expect(await batch()).toBeUndefined()
  mkdirSync(join(dir, 'global_step_3'))
  utimesSync(join(dir, 'global_step_3'), 110, 110)
  expect(await batch()).toBe(16)
  for (const second of [120, 130]) await start(second, 8)
  expect(await batch()).toBe(16)
  mkdirSync(join(dir, 'global_step_4'))
  utimesSync(join(dir, 'global_step_4'), 140, 140)
  expect(await batch()).toBe(8)
})
