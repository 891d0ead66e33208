import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tempDir } from '../../test/support/temp-dir.js'
import { whichModel } from './which-model.js'

it('finds the weights of a directory, of a step and in nothing else', async () => {
  const dir = await tempDir()
  const weights = join(dir, 'run', 'global_step_3', 'actor', 'huggingface')
  await mkdir(weights, { recursive: true })
  await writeFile(join(weights, 'config.json'), '{}')
  await mkdir(join(dir, 'other', 'monitor'), { recursive: true })
  const find = (...parts: string[]) => whichModel(join(dir, ...parts), () => {})
  expect(await find('run', 'global_step_3')).toBe(weights)
  expect(await find('run', 'global_step_3', 'actor')).toBe(weights)
  expect(await find('run', 'global_step_3', 'actor', 'huggingface')).toBe(weights)
  expect(await find('nowhere')).toBe(join(dir, 'nowhere'))
  await expect(find('run/global_step_3/actor/huggingface/config.json')).rejects.toThrow('is a file')
  await expect(find()).rejects.toMatchObject({
    code: 'model/none',
    hint: expect.stringContaining(join(dir, 'other')),
  })
})
