import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Checkpoints } from '../checkpoint/index.js'
import { newestModel } from './newest-model.js'

let dir: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'trinity-newest-'))
})
afterAll(() => rm(dir, { recursive: true, force: true }))

it('is that of the last checkpoint of the stage before', async () => {
  const job = join(dir, 'job')
  await mkdir(job)
  const checkpoints = await Checkpoints.open({ dir: job })
  const actor = async (path: string) => {
    await mkdir(join(path, 'huggingface'), { recursive: true })
    await writeFile(join(path, 'huggingface', 'weights.bin'), 'w')
  }
  for (const step of [4, 12]) await checkpoints.save(step, { folders: { actor }, state: { step } })
  expect(await newestModel(job)).toBe(join(job, 'global_step_12', 'actor', 'huggingface'))
})

it('is refused where the newest is damaged, and the note says what is wrong', async () => {
  const job = join(dir, 'damaged')
  await mkdir(job)
  const checkpoints = await Checkpoints.open({ dir: job })
  const actor = async (path: string) => {
    await mkdir(join(path, 'huggingface'), { recursive: true })
    await writeFile(join(path, 'huggingface', 'weights.bin'), 'w')
  }
  for (const step of [4, 12]) await checkpoints.save(step, { folders: { actor }, state: { step } })
  const weights = join(job, 'global_step_12', 'actor', 'huggingface')
  await writeFile(join(weights, 'weights.bin'), 'v')
  const notes: string[] = []
  await expect(newestModel(job, (text) => notes.push(text))).rejects.toMatchObject({
    code: 'checkpoint/damaged',
    path: weights,
  })
  expect(notes.join()).toContain('the content of actor/huggingface/weights.bin has changed')
})

it('a stage that left none is an error that says what to do', async () => {
  const job = join(dir, 'empty')
  await expect(newestModel(job)).rejects.toMatchObject({
    code: 'run/no-model',
    path: job,
    hint: expect.stringContaining('--fresh'),
  })
})
