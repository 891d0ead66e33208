import { mkdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tempDir } from '../../../test/support/temp-dir.js'
import { lastChange, sparkOf } from './pulse.js'

it('a run changes when it writes, not when somebody looks at it or gives it a tag', async () => {
  const dir = await tempDir()
  const put = async (name: string, at: number) => {
    await writeFile(join(dir, name), '')
    await utimes(join(dir, name), at, at)
  }
  for (const folder of ['buffer', 'log', '.trinity', 'global_step_3']) await mkdir(join(dir, folder))
  await utimes(join(dir, 'global_step_3'), 900, 900)
  await put('buffer/rollouts.db', 1000)
  await put('log/trainer.log', 1100)
  await put('.trinity/tags.json', 5000)
  for (const journal of ['rollouts.db-shm', 'rollouts.db-wal']) await put(`buffer/${journal}`, 5000)
  expect(await lastChange(dir)).toBe(1100)
  await utimes(join(dir, 'global_step_3'), 1200, 1200)
  expect(await lastChange(dir)).toBe(1200)
})

it('the last reward is that of the last step, however many steps a point of the curve stands for', () => {
  const spark = (rewards: readonly (number | string)[]) =>
    sparkOf([
      {
        role: 'explorer',
        rows: rewards.map((reward, i) => ({ step: i, time: i, metrics: { 'rollout/reward/mean': reward } })),
      },
    ])
  const many = spark(Array.from({ length: 120 }, (_, i) => i))
  expect(many?.values).toHaveLength(60)
  expect(many?.values.at(-1)).toBe(118.5)
  expect(many?.last).toBe(119)
  expect(spark([1, 2, 'NaN'])?.last).toBe(2)
  expect(spark(['NaN'])?.last).toBeUndefined()
})
