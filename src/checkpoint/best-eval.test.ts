import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tempDir } from '../../test/trainer/kit.js'
import { readBestEval, recordEval, rewindEvals } from './best-eval.js'

const metrics = { 'eval/a/accuracy/mean@1': 0.5 }

it('reads what it has written', async () => {
  const dir = await tempDir()
  const made = await recordEval(dir, 2, metrics)
  expect(await readBestEval(dir)).toEqual(made)
})

it('compares evaluations with and without detailed statistics', async () => {
  const dir = await tempDir()
  const detailed = (mean: number) => ({
    'eval/a/accuracy/mean@2/mean': mean,
    'eval/a/accuracy/mean@2/max': 1,
    'eval/a/accuracy/std@2/mean': 0.9,
  })
  await recordEval(dir, 0, detailed(0.25))
  await recordEval(dir, 2, { 'eval/a/accuracy/mean@2': 0.75 })
  const { best, last } = await recordEval(dir, 4, detailed(0.5))
  expect(last).toMatchObject({ score: 0.5, metric: 'eval/a/accuracy/mean@2/mean' })
  expect(best).toMatchObject({ step: 2, score: 0.75 })
})

it.each(['{}', '{"history": []}', '{"history": [1]}', '{"first": null, "history": [{"step": "1"}]}', '[]', 'junk'])(
  'names the file when it holds something else: %s',
  async (text) => {
    const dir = await tempDir()
    const path = join(dir, 'best_eval.json')
    await writeFile(path, text)
    const told = expect.objectContaining({ name: 'TrinityError', path })
    await expect(readBestEval(dir)).rejects.toEqual(told)
    await expect(rewindEvals(dir, 1)).rejects.toEqual(told)
    await expect(recordEval(dir, 1, metrics)).rejects.toEqual(told)
  },
)
