import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tempDir } from '../../test/support/temp-dir.js'
import { testData } from '../../test/support/test-data.js'
import { createModel } from '../model/create.js'
import { openModelDir } from '../model/dir.js'
import { bytesOf, SafetensorsFile } from '../model/safetensors.js'
import { convertCheckpoint, convertSteps } from './convert.js'
import { findSteps, parseSteps } from './steps.js'

const data = testData('ckpt_fixtures')
const stories = testData('models/stories260K/hf')

/** A run with the actor of a fixture at these steps. */
async function runWith(fixture: string, steps: readonly number[]): Promise<string> {
  const dir = await tempDir()
  for (const step of steps) {
    await cp(join(data.path, fixture), join(dir, 'run', `global_step_${step}`, 'actor'), { recursive: true })
  }
  return dir
}

async function expectWeights(dir: string, expected: string): Promise<void> {
  const model = await openModelDir(dir)
  const file = await SafetensorsFile.open(expected)
  for (const name of model.tensorNames()) {
    const [left, right] = [bytesOf(await model.readTensor(name)), bytesOf(await file.readFloat32(name))]
    expect([name, Buffer.compare(left, right)]).toEqual([name, 0])
  }
  expect(model.tensorNames().length).toBeGreaterThan(40)
  await model.close()
  await file.close()
}

describe.skipIf(data.absent || stories.absent)(`checkpoints of other programs${data.note}`, () => {
  const expected = join(data.path, 'expected_after1step.safetensors')

  it.each(['verl_fsdp2_world2_after1step', 'torch_dcp_world2_after1step'])(
    '%s becomes what it was',
    async (fixture) => {
      const dir = await runWith(fixture, [5, 10])
      const outcomes = await convertSteps(await findSteps(dir), { base: stories.path, dtype: 'keep' })
      expect(outcomes.map(({ result }) => result)).toEqual(['converted', 'converted'])
      const out = join(dir, 'run', 'global_step_10', 'actor', 'huggingface')
      await expectWeights(out, expected)
      expect(await readdir(out)).toEqual(expect.arrayContaining(['config.json', 'tokenizer.json', 'model.safetensors']))
      const again = await convertSteps(await findSteps(join(out, 'config.json')), {})
      expect(again.map(({ result }) => result)).toEqual(['finished'])
    },
  )

  it('rounds to bf16 and divides into files', async () => {
    const dir = await runWith('verl_fsdp2_world2_after1step', [1])
    const [{ result, note }] = await convertSteps(await findSteps(dir), { base: stories.path, shardBytes: 100_000 })
    expect([result, note]).toEqual(['converted', 'fsdp, 2 ranks, 47 tensors'])
    const out = join(dir, 'run', 'global_step_1', 'actor', 'huggingface')
    expect((await readdir(out)).filter((name) => name.endsWith('.safetensors')).length).toBeGreaterThan(3)
    const model = await openModelDir(out)
    const file = await SafetensorsFile.open(expected)
    const name = 'model.layers.3.mlp.down_proj.weight'
    expect([model.tensorInfo(name).dtype, model.config.dtype]).toEqual(['BF16', 'BF16'])
    const [rounded, exact] = [await model.readTensor(name), await file.readFloat32(name)]
    expect(rounded.every((x, i) => Math.abs(x - exact[i]) <= Math.abs(exact[i]) * 2 ** -8)).toBe(true)
    await model.close()
    await file.close()
  })

  it('.bin becomes safetensors', async () => {
    const dir = await tempDir()
    await cp(stories.path, join(dir, 'bin'), { recursive: true })
    await rm(join(dir, 'bin', 'model.safetensors'))
    await cp(join(data.path, 'pytorch_model.bin'), join(dir, 'bin', 'pytorch_model.bin'))
    await convertCheckpoint(join(dir, 'bin'), join(dir, 'out'), { dtype: 'keep' })
    await expectWeights(join(dir, 'bin'), join(stories.path, 'model.safetensors'))
    await expectWeights(join(dir, 'out'), join(stories.path, 'model.safetensors'))
    await mkdir(join(dir, 'alone'))
    await cp(join(data.path, 'pytorch_model.bin'), join(dir, 'alone', 'pytorch_model.bin'))
    await expect(convertCheckpoint(join(dir, 'alone'), join(dir, 'whole'), {})).rejects.toThrow('has no config.json')
    await convertCheckpoint(join(dir, 'alone'), join(dir, 'whole'), { base: stories.path, dtype: 'keep' })
    await expectWeights(join(dir, 'whole'), join(stories.path, 'model.safetensors'))
  })

  it('Megatron gives the same whether it was divided or not', async () => {
    const dir = await tempDir()
    const shape = { layers: 2, hidden: 64, heads: 4, kvHeads: 2, intermediate: 128, vocab: 256 }
    await createModel({ out: join(dir, 'base'), ...shape, tokenizer: { kind: 'chars', characters: 'ab' } })
    for (const part of ['tp1', 'tp2']) {
      const out = join(dir, part)
      const note = await convertCheckpoint(join(data.path, 'megatron', part), out, {
        base: join(dir, 'base'),
        dtype: 'keep',
      })
      expect(note).toBe('megatron, 21 tensors')
      await (await openModelDir(out)).close()
    }
    const [one, two] = [
      await readFile(join(dir, 'tp1', 'model.safetensors')),
      await readFile(join(dir, 'tp2', 'model.safetensors')),
    ]
    expect(one.equals(two)).toBe(true)
  })

  it('says which rank is missing, and leaves nothing behind', async () => {
    const dir = await runWith('verl_fsdp2_world2_after1step', [7])
    const actor = join(dir, 'run', 'global_step_7', 'actor')
    await rm(join(actor, 'model_world_size_2_rank_0.pt'))
    const before = await readdir(actor)
    const [outcome] = await convertSteps(await findSteps(dir), { base: stories.path })
    expect(outcome).toMatchObject({ result: 'failed', note: expect.stringContaining('1 of 2 shards: that of rank 0') })
    expect(await readdir(actor)).toEqual(before)
  })

  it('a damaged shard fails alone, and leaves nothing behind', async () => {
    const dir = await runWith('torch_dcp_world2_after1step', [1, 2])
    const actor = join(dir, 'run', 'global_step_1', 'actor')
    const file = join(actor, '__1_0.distcp')
    await writeFile(file, (await readFile(file)).subarray(0, 200_000))
    const outcomes = await convertSteps(await findSteps(dir), { base: stories.path })
    expect(outcomes.map(({ result }) => result)).toEqual(['failed', 'converted'])
    expect((await readdir(actor)).sort()).toEqual(['.metadata', '__0_0.distcp', '__1_0.distcp'])
    expect(outcomes[0].error?.code).toBe('file/zip')
  })

  it('reads no file that is not of the checkpoint', async () => {
    const dir = await runWith('torch_dcp_world2_after1step', [1])
    const file = join(dir, 'run', 'global_step_1', 'actor', '.metadata')
    const changed = (await readFile(file, 'latin1')).replaceAll('__0_0.distcp', '../../x.dist')
    await writeFile(file, changed, 'latin1')
    const [outcome] = await convertSteps(await findSteps(dir), { base: stories.path })
    expect(outcome.note).toContain('names "../../x.dist" as a file of the checkpoint')
  })

  it('without a configuration it says what to give', async () => {
    const dir = await runWith('verl_fsdp2_world2_after1step', [1])
    const [outcome] = await convertSteps(await findSteps(dir), {})
    expect(outcome.error?.hint).toContain('--base-model-dir')
  })
})

describe('which checkpoints are meant', () => {
  it('all below, one, or that of any path inside', async () => {
    const dir = await tempDir()
    for (const step of [20, 3]) await mkdir(join(dir, 'a', `global_step_${step}`, 'actor'), { recursive: true })
    await mkdir(join(dir, 'b', 'global_step_7.damaged-00000000'), { recursive: true })
    const steps = async (path: string) => (await findSteps(join(dir, path))).map(({ step }) => step)
    expect(await steps('.')).toEqual([3, 20])
    expect(await steps('a/global_step_3/actor')).toEqual([3])
    expect(await steps('b')).toEqual([])
    await expect(steps('c')).rejects.toThrow('there is no')
    expect(parseSteps('10, 20 20')).toEqual([10, 20])
    expect(() => parseSteps('ten')).toThrow('not a list of steps')
  })
})
