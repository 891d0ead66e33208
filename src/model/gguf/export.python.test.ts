import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { testPython } from '../../../test/support/python.js'
import { tempDir } from '../../../test/support/temp-dir.js'
import { createModel } from '../create.js'
import { bytesOf } from '../safetensors.js'
import { exportGguf } from './export.js'
import { GgufFile } from './file.js'
import { type FileType, fileTypes } from './file-type.js'

const script = `
import hashlib, json, sys
import numpy as np
from gguf import GGUFReader
from gguf.quants import dequantize
out = {}
for path in sys.argv[1:]:
    reader = GGUFReader(path)
    out[path] = {
        "architecture": reader.fields["general.architecture"].contents(),
        "tensors": {t.name: [t.tensor_type.name, [int(n) for n in reversed(t.shape)],
                    hashlib.sha256(dequantize(t.data, t.tensor_type).astype(np.float32).tobytes()).hexdigest()] for t in reader.tensors},
    }
print(json.dumps(out))
`

const python = testPython('gguf', 'numpy')
describe.skipIf(python.absent)(`files for the gguf package${python.note}`, () => {
  it('hold the same numbers, types and shapes there and here', { timeout: 60_000 }, async () => {
    const dir = await tempDir()
    await createModel({
      out: join(dir, 'm'),
      arch: 'qwen3',
      layers: 3,
      hidden: 256,
      heads: 4,
      intermediate: 512,
      tie: true,
    })
    const paths = new Map((Object.keys(fileTypes) as FileType[]).map((type) => [type, join(dir, `${type}.gguf`)]))
    for (const [type, path] of paths) await exportGguf(join(dir, 'm'), path, { type })
    const stdout = execFileSync(python.path, ['-c', script, ...paths.values()], { maxBuffer: 1e8 }).toString()
    const found = JSON.parse(stdout) as Record<string, { architecture: string; tensors: Record<string, unknown> }>
    const types = new Set<string>()
    for (const path of paths.values()) {
      expect(found[path].architecture).toBe('qwen3')
      const file = await GgufFile.open(path)
      for (const { name, type, shape } of file.tensors.values()) {
        const hash = createHash('sha256').update(bytesOf(await file.readFloat32(name)))
        expect(found[path].tensors[name]).toEqual([type.name, shape, hash.digest('hex')])
        types.add(type.name)
      }
      expect(Object.keys(found[path].tensors)).toHaveLength(file.tensors.size)
      await file.close()
    }
    expect([...types].sort()).toEqual(['BF16', 'F16', 'F32', 'Q4_0', 'Q4_K', 'Q6_K', 'Q8_0'])
  })
})
