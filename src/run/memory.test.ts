import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { withKeys } from '../../test/config-kit.js'
import { configJson } from '../../test/support/model-shapes.js'
import { cardOf, memoryOf } from './memory.js'

const dir = mkdtempSync(join(tmpdir(), 'trinity-memory-'))
const model = join(dir, 'model')
mkdirSync(model)
writeFileSync(join(model, 'config.json'), JSON.stringify(configJson('1.5b')))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const keys = {
  'algorithm.algorithm_type': 'grpo',
  'algorithm.kl_loss_fn': 'none',
  'explorer.rollout_model.engine_type': 'torch',
  'trainer.trainer_type': 'torch',
  'model.model_path': model,
}
const config = (more: Record<string, unknown> = {}) => withKeys({ ...keys, ...more }, { gpus: 1, pytorch: true })

describe('the memory plan of a dry run', () => {
  it('is compared with a GPU of a given size', async () => {
    const { lines, warnings } = await memoryOf(config(), await cardOf('80GB'))
    expect(lines.map(([label]) => label)).toEqual(['memory', '', '', ''])
    expect(lines[0][1]).toMatch(/^one GPU, about: always 27\.4 GiB = policy: weights 2\.9 GiB/)
    expect(lines[3][1]).toMatch(/^of 74\.5 GiB \(as given\): training .*, rollout .*; a cache of 3\d\.\d GiB/)
    expect(warnings).toEqual([])
  })

  it('warns of what will not fit, and says what to change', async () => {
    const { warnings } = await memoryOf(config(), await cardOf('24 GB'))
    expect(warnings).toHaveLength(2)
    expect(warnings[0]).toMatch(
      /^training needs about 3\d\.\d GiB .* has 22\.4 GiB \(set one or more of: trainer\.optimizer_offload/,
    )
  })

  it('says when it could not be compared, or not be made', async () => {
    const { lines } = await memoryOf(config(), undefined)
    expect(lines.at(-1)![1]).toMatch(/^not compared: no GPU is visible here \(--gpu-memory/)
    const missing = await memoryOf(config({ 'model.model_path': 'nobody/has-this-model' }), undefined)
    expect(missing.lines).toEqual([['memory', 'not planned: the model nobody/has-this-model is not on this machine']])
    writeFileSync(
      join(dir, 'config.json'),
      JSON.stringify({ ...configJson('1.5b'), architectures: ['OtherForCausalLM'] }),
    )
    const other = await memoryOf(config({ 'model.model_path': dir }), undefined)
    expect(other.lines[0][1]).toMatch(/^not planned: unknown model architecture 'OtherForCausalLM'/)
  })

  it('is nothing on the native engine', async () => {
    expect(await memoryOf(withKeys({ 'model.model_path': model }), undefined)).toEqual({ lines: [], warnings: [] })
  })
})

describe('the size of a GPU', () => {
  it('is given in gigabytes', async () => {
    expect(await cardOf('80')).toEqual({ name: 'as given', bytes: 80e9 })
    expect((await cardOf('40 GiB'))?.bytes).toBe(40 * 2 ** 30)
    await expect(cardOf('large')).rejects.toThrowError(/'large' is not a memory size/)
  })
})
