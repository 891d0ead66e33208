import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { tempDir } from '../../../test/support/temp-dir.js'
import { createModel } from '../create.js'
import { openModelDir } from '../dir.js'
import { exportGguf } from './export.js'
import { GgufFile } from './file.js'

const PORTIONS = 4
/** A tensor whose rows have another order in GGUF files, and one whose rows have the same. */
const NAMES = ['model.layers.0.self_attn.q_proj.weight', 'model.layers.0.mlp.up_proj.weight']

afterEach(() => void vi.restoreAllMocks())

describe('a tensor that is read in portions', () => {
  it.each([
    ['f16', 'readRaw'],
    ['q8_0', 'readFloat32'],
  ] as const)('is the whole one, and is decoded at most once: %s', async (type, read) => {
    const dir = await tempDir()
    const tiny = { layers: 1, hidden: 64, heads: 2, intermediate: 128, vocab: 300 }
    await createModel({ ...tiny, out: join(dir, 'm'), arch: 'llama', seed: 5 })
    await exportGguf(join(dir, 'm'), join(dir, 'm.gguf'), { type })
    const model = await openModelDir(join(dir, 'm.gguf'))
    for (const name of NAMES) {
      const whole = (await model.readRaw(name)).data
      const { size } = model.tensorInfo(name)
      const reads = vi.spyOn(GgufFile.prototype, read)
      const portions: Uint8Array[] = []
      for (let i = 0; i < PORTIONS; i++) {
        const range = [(i * size) / PORTIONS, ((i + 1) * size) / PORTIONS] as const
        portions.push((await model.readRaw(name, range)).data)
      }
      expect(Buffer.compare(Buffer.concat(portions), whole)).toBe(0)
      expect(reads).toHaveBeenCalledTimes(name.includes('q_proj') ? 1 : 0)
      reads.mockRestore()
    }
    await model.close()
  })
})
