import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tempDir } from '../../test/support/temp-dir.js'
import { modelName } from './model-name.js'

it('a model is called what a user would call it', async () => {
  const dir = await tempDir()
  const [run, folder, file] = [join(dir, 'project/mine'), join(dir, 'Qwen2.5-0.5B'), join(dir, 'small.gguf')]
  const step = join(run, 'global_step_30')
  const weights = join(step, 'actor/huggingface')
  for (const made of [weights, folder]) mkdirSync(made, { recursive: true })
  writeFileSync(file, '')
  expect(modelName(folder, folder)).toBe('Qwen2.5-0.5B')
  expect(modelName(`${folder}/`, `${folder}/`)).toBe('Qwen2.5-0.5B')
  expect(modelName(file, file)).toBe('small')
  expect(modelName('Qwen/Qwen2.5-0.5B', 'Qwen/Qwen2.5-0.5B')).toBe('Qwen/Qwen2.5-0.5B')
  expect(modelName(run, weights)).toBe('mine')
  expect(modelName(join(dir, 'trinity.yaml'), weights)).toBe('mine')
  for (const asked of [step, join(step, 'actor'), weights])
    expect(modelName(asked, weights)).toBe('mine/global_step_30')
})
