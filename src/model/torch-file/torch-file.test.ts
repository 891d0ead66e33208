import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tempDir } from '../../../test/support/temp-dir.js'
import { testData } from '../../../test/support/test-data.js'
import { TrinityError } from '../../base/error.js'
import { bytesOf, SafetensorsFile } from '../safetensors.js'
import { TorchFile } from './file.js'
import { readPickle } from './pickle.js'
import { op, pickle, saveTorch, zipOf } from './torch-file.fixture.js'
import { TorchWeights } from './weights.js'

const range = (n: number) => Float32Array.from({ length: n }, (_, i) => i)

describe('files of torch.save', () => {
  it('are read tensor by tensor, also where elements do not lie in order', async () => {
    const path = join(await tempDir(), 'w.bin')
    const [plain, turned] = [
      { values: range(6), shape: [2, 3] },
      { values: range(6), shape: [3, 2], stride: [1, 3] },
    ]
    await saveTorch(path, new Map(Object.entries({ plain, turned, epoch: 3 })))
    const file = await TorchWeights.open(path)
    expect([...file.tensors.keys()]).toEqual(['plain', 'turned'])
    expect([...(await file.readFloat32('plain'))]).toEqual([0, 1, 2, 3, 4, 5])
    expect([...(await file.readFloat32('turned'))]).toEqual([0, 3, 1, 4, 2, 5])
    await expect(file.readFloat32('plain', new Float32Array(5))).rejects.toThrow('6 elements')
    await file.close()
  })

  const real = testData('ckpt_fixtures/pytorch_model.bin')
  const stories = testData('models/stories260K/hf/model.safetensors')
  it.skipIf(real.absent || stories.absent)(`hold what PyTorch wrote${real.note}`, async () => {
    const [ours, theirs] = [await TorchWeights.open(real.path), await SafetensorsFile.open(stories.path)]
    for (const name of theirs.tensors.keys()) {
      expect(Buffer.compare(await ours.readRaw(name), await theirs.readRaw(name))).toBe(0)
    }
    await ours.close()
    await theirs.close()
  })
})

describe('hostile files', () => {
  const call = (module: string, name: string) =>
    pickle(op.reduce(op.global(module, name), op.tuple(op.text('touch /tmp/owned'))))

  it.each([
    ['os', 'system'],
    ['posix', 'system'],
    ['builtins', 'eval'],
    ['builtins', 'getattr'],
    ['subprocess', 'Popen'],
    ['torch.storage', '_load_from_bytes'],
    ['torch', 'load'],
    ['collections', 'OrderedDict.x'],
  ])('%s.%s is refused by its name', async (module, name) => {
    const path = join(await tempDir(), 'bad.pt')
    await saveTorch(path, 0, call(module, name))
    await expect(TorchFile.open(path)).rejects.toThrow(`${module}.${name}`)
    const stacked = Buffer.concat([op.text(module), op.text(name), Buffer.of(0x93)])
    expect(() => readPickle(pickle(stacked), path)).toThrow(`${module}.${name}`)
  })

  it('lengths that the file does not have take no memory', () => {
    const text =
      (...bytes: number[]) =>
      () =>
        readPickle(Buffer.of(0x80, 2, ...bytes), 'p')
    expect(text(0x58, 0xff, 0xff, 0xff, 0xff)).toThrow('ends too early')
    expect(text(0x8e, 0, 0, 0, 0, 0, 0, 0, 0x7f)).toThrow('ends too early')
    expect(text(0x8b, 0xff, 0xff, 0xff, 0x7f)).toThrow('an integer of 2147483647 bytes')
    expect(text(0x52)).toThrow('its stack is empty')
    expect(text(0x69)).toThrow('instruction 0x69')
  })

  it('a tensor larger than its storage, or a storage that is not there, is refused', async () => {
    const path = join(await tempDir(), 'w.bin')
    await saveTorch(path, new Map([['w', { values: range(6), shape: [1 << 20, 1 << 20] }]]))
    const file = await TorchWeights.open(path)
    await expect(file.readRaw('w')).rejects.toThrow('does not fit into a storage of 24 bytes')
    await file.close()
    await saveTorch(path, new Map([['w', { values: range(6), shape: [1 << 28], stride: [0] }]]))
    const repeated = await TorchWeights.open(path)
    await expect(repeated.readRaw('w')).rejects.toThrow('does not fit')
    await repeated.close()
  })

  it('an entry that claims to be huge is refused before it is read', async () => {
    const path = join(await tempDir(), 'bomb.pt')
    await writeFile(path, zipOf([['a/data.pkl', pickle(op.int(1))]], 0xf0000000))
    await expect(TorchFile.open(path)).rejects.toThrow('a description of 4026531840 bytes')
  })

  it('any damage is one error', async () => {
    const path = join(await tempDir(), 'w.bin')
    await saveTorch(path, new Map([['w', { values: range(6), shape: [2, 3] }]]))
    const good = await readFile(path)
    const change = fc.record({ at: fc.nat(good.length - 1), value: fc.nat(255) })
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), fc.nat(good.length), async (changes, cut) => {
        const bad = Buffer.from(good)
        for (const { at, value } of changes) bad[at] = value
        await writeFile(path, cut % 3 === 0 ? bad.subarray(0, cut) : bad)
        const read = async () => {
          const file = await TorchWeights.open(path)
          try {
            for (const name of file.tensors.keys()) bytesOf(await file.readRaw(name))
          } finally {
            await file.close()
          }
        }
        const failed = await read().then(
          () => undefined,
          (error) => error,
        )
        expect(failed === undefined || failed instanceof TrinityError).toBe(true)
      }),
      { numRuns: 200 },
    )
  })
})
