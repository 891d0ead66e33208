import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { numbersOf, saveEveryWay } from '../../../test/support/saved-models.js'
import { tempDir } from '../../../test/support/temp-dir.js'
import { families } from '../../model/architecture.js'
import { createModel } from '../../model/create.js'
import { nextCall } from '../calls.js'
import { NativeEngine } from './engine.js'

/** Keys that Transformers declares as float; its strict reader refuses an integer there. */
const floats = ['initializer_range', 'rms_norm_eps', 'attn_logit_softcapping', 'final_logit_softcapping']
const isFloat = expect.stringMatching(/[.e]/)

describe('saved model directories', () => {
  it.each(families)('keeps the number formats of config.json: %s', async (arch) => {
    const dirs = await saveEveryWay(await tempDir(), arch)
    const source = await numbersOf(join(dirs.source, 'config.json'))
    expect(source).toMatchObject({ rms_norm_eps: '1e-06', initializer_range: '0.020', rope_theta: '1000000.0' })
    for (const way of ['saved', 'critic', 'converted']) {
      const { num_labels: _, ...numbers } = await numbersOf(join(dirs[way], 'config.json'))
      expect({ way, ...numbers }).toMatchObject({ way, ...source })
    }
    for (const [way, dir] of Object.entries(dirs)) {
      const numbers = await numbersOf(join(dir, 'config.json'))
      const written = floats.filter((key) => key in numbers).map((key) => numbers[key])
      expect({ way, written }).toEqual({ way, written: written.map(() => isFloat) })
    }
    const generation = await numbersOf(join(dirs.made, 'generation_config.json'))
    expect(generation).toMatchObject({ temperature: '1.0', top_p: '1.0', top_k: '0' })
  })

  it('repairs integers that a strict reader refuses', async () => {
    const dir = await tempDir()
    await createModel({ out: join(dir, 'm'), arch: 'gemma2', layers: 1, hidden: 32, heads: 2, tie: true })
    const file = join(dir, 'm', 'config.json')
    const json = JSON.parse(await readFile(file, 'utf8'))
    await writeFile(file, JSON.stringify(json))
    expect((await readFile(file, 'utf8')).match(/"attn_logit_softcapping":\w+/)?.[0]).toMatch(/:50$/)
    const engine = new NativeEngine()
    const model = await engine.openTrain({ path: join(dir, 'm') }, nextCall())
    await model.save(join(dir, 'saved'), nextCall())
    await engine.close()
    const numbers = await numbersOf(join(dir, 'saved', 'huggingface', 'config.json'))
    expect(numbers).toMatchObject({
      attn_logit_softcapping: '50.0',
      final_logit_softcapping: '30.0',
      vocab_size: '263',
    })
  })

  it('keeps the number formats of an adapter', async () => {
    const dir = await tempDir()
    await createModel({ out: join(dir, 'm'), layers: 1, hidden: 32, heads: 2 })
    const engine = new NativeEngine()
    const lora = { rank: 2, alpha: 4, targetModules: ['q_proj'] }
    const save = async (path: string | undefined, to: string) => {
      const model = await engine.openTrain({ path: join(dir, 'm'), lora: { ...lora, path } }, nextCall())
      await model.save(join(dir, to), nextCall())
      await model.close()
      return join(dir, to, 'lora_adapter', 'adapter_config.json')
    }
    const first = await save(undefined, 'first')
    expect(await numbersOf(first)).toEqual({ r: '2', lora_alpha: '4', lora_dropout: '0.0' })
    await writeFile(first, (await readFile(first, 'utf8')).replace('"lora_alpha": 4', '"lora_alpha": 4.00'))
    expect(await numbersOf(await save(join(first, '..'), 'second'))).toMatchObject({ r: '2', lora_alpha: '4.00' })
    await engine.close()
  })

  it('keeps the number formats of tokenizer_config.json under a new chat template', async () => {
    const dir = await tempDir()
    await createModel({ out: join(dir, 'from'), layers: 1, hidden: 32, heads: 2 })
    const file = join(dir, 'from', 'tokenizer_config.json')
    const longest = '"model_max_length": 1000000000000000019884624838656'
    await writeFile(file, (await readFile(file, 'utf8')).replace('{\n', `{\n  ${longest},\n`))
    await mkdir(join(dir, 'new'))
    const tokenizer = { kind: 'from', dir: join(dir, 'from') } as const
    await createModel({ out: join(dir, 'new'), layers: 1, hidden: 32, heads: 2, tokenizer, chatTemplate: '{{ 1 }}' })
    expect(await readFile(join(dir, 'new', 'tokenizer_config.json'), 'utf8')).toContain(longest)
  })
})
