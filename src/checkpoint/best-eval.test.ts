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
