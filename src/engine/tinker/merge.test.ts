import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { defineLoss } from '../../graph/define.js'
import { createModel } from '../../model/create.js'
import { openModelDir } from '../../model/dir.js'
import { nextCall } from '../calls.js'
import { NativeEngine } from '../native/engine.js'
import { mergeAdapter } from './merge.js'
import { tarFiles } from './tar.js'

it('an adapter is merged as the native engine merges it', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'trinity-merge-'))
  const path = join(dir, 'model')
  await createModel({
    out: path,
    layers: 1,
    hidden: 16,
    heads: 2,
    maxPositions: 32,
    tokenizer: { kind: 'bytes' },
    seed: 3,
  })
  const lora = { rank: 2, alpha: 8, targetModules: 'all-linear' } as const
  const model = await new NativeEngine().openTrain({ path, lora, seed: 1 }, nextCall())
  // a step, so that both factors are there; its gradient does not matter
  const tokens = Int32Array.of(1, 2, 3, 4)
  const row = { id: 'r', tokens, start: 1, mask: new Uint8Array(3).fill(1), temperature: 1, columns: {} }
  await model.forwardBackward(
    { rows: [row], tokenBudget: 9 },
    defineLoss((g) => g.logprob.total()),
    nextCall(),
  )
  const step = { lr: 0.1, betas: [0.9, 0.99] as const, eps: 1e-8, weightDecay: 0, gradClip: 0 }
  await model.optimStep(step, nextCall())
  await model.save(join(dir, 'saved'), nextCall())
  expect(await mergeAdapter(path, join(dir, 'saved', 'lora_adapter'), dir)).toBeUndefined()
  const [merged, native] = [await openModelDir(dir), await openModelDir(join(dir, 'saved', 'huggingface'))]
  const base = await openModelDir(path)
  let change = 0
  for (const name of native.tensorNames()) {
    const [x, y, z] = [await merged.readTensor(name), await native.readTensor(name), await base.readTensor(name)]
    for (let i = 0; i < y.length; i++) {
      expect(x[i]).toBeCloseTo(y[i], 5)
      change = Math.max(change, Math.abs(y[i] - z[i]))
    }
  }
  expect(change).toBeGreaterThan(0.01)
  await Promise.all([merged, native, base].map((one) => one.close()))
  await model.close()
  expect(await mergeAdapter(tmpdir(), join(dir, 'saved', 'lora_adapter'), dir)).toBe('no weights')
  await rm(dir, { recursive: true, force: true })
})

it('a tar archive is read, and a damaged one is an error', () => {
  const block = (name: string, text: string, kind = '0') => {
    const head = Buffer.alloc(512)
    head.write(name, 0)
    head.write(text.length.toString(8).padStart(11, '0'), 124)
    head.write(kind, 156)
    return Buffer.concat([head, Buffer.from(text), Buffer.alloc((512 - (text.length % 512)) % 512)])
  }
  const long = `${'folder/'.repeat(20)}long.json`
  const archive = Buffer.concat([
    block('./', '', '5'),
    block('./adapter_config.json', '{"r": 4}'),
    block('pax', `${long.length + 10} path=${long}\n`, 'x'),
    block('cut off', 'x'.repeat(600)),
    Buffer.alloc(1024),
  ])
  const files = tarFiles(archive)
  expect([...files.keys()]).toEqual(['adapter_config.json', 'long.json'])
  expect(Buffer.from(files.get('adapter_config.json')!).toString()).toBe('{"r": 4}')
  expect(files.get('long.json')).toHaveLength(600)
  expect(() => tarFiles(archive.subarray(0, 1030))).toThrowError(/damaged/)
})
