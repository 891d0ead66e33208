import { cp } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { tempDir } from '../../test/support/temp-dir.js'
import { fixture } from '../../test/support/test-data.js'
import { useWeights } from './use-weights.js'

it('promises other loaders a model only where the weights are in the folder', async () => {
  const path = fixture('tiny-qwen2')
  expect((await useWeights(path, 'native')).join()).toContain('any loader reads it')
  const dir = await tempDir()
  await cp(path, dir, { recursive: true, filter: (file) => !file.endsWith('.safetensors') })
  expect(await useWeights(dir, 'tinker')).toEqual([
    `${dir}   is what the tinker engine goes on from; it holds no weights for other loaders`,
  ])
})
