import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { torchTestPython } from '../../../test/support/python.js'
import { fixture } from '../../../test/support/test-data.js'
import { tempDir } from '../../../test/trainer/kit.js'
import { hashFile } from '../../base/file/block-hash.js'
import { takeHash } from '../../base/file/written-hash.js'
import { TorchEngine } from './engine.js'

vi.mock('../../base/file/block-hash.js', { spy: true })

const python = torchTestPython()

it.skipIf(python.absent)(
  `what workers write is hashed by them, not read for it${python.note}`,
  async () => {
    const engine = new TorchEngine({ python: python.path, device: 'cpu' })
    try {
      let seq = 0
      const call = () => ({ seq: ++seq, deadlineMs: 240_000 })
      const model = await engine.openTrain({ path: fixture('tiny-qwen2'), seed: 1 }, call())
      const dir = join(await tempDir(), 'actor')
      await model.save(dir, call())
      const parts = (await readdir(dir)).filter((name) => name.endsWith('.pt'))
      expect(parts).toHaveLength(3)
      const paths = [...parts, 'huggingface/model.safetensors'].map((name) => join(dir, name))
      const known = []
      for (const path of paths) known.push(await takeHash(path))
      expect(hashFile).not.toHaveBeenCalled()
      expect(known).toEqual(await Promise.all(paths.map(hashFile)))
    } finally {
      await engine.close()
    }
  },
  300_000,
)
