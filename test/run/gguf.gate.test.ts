import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { openEngine } from '../../src/engine/registry.js'
import { exportGguf } from '../../src/model/gguf/export.js'
import { createModel, openModelDir, Tokenizer } from '../../src/model/index.js'
import { workflows } from '../../src/workflow/index.js'
import { Bench } from './kit.js'

/** Every answer is better than the one before, whatever it says: something is learned. */
let answers = 0
workflows.add('later_is_better_workflow', async ({ task, model }) => {
  const experiences = await model.generate(String(task.raw.q), {})
  for (const one of experiences) one.reward = answers++
  return experiences
})

let bench: Bench
beforeAll(async () => {
  bench = await Bench.make()
  vi.stubEnv('HOME', bench.dir)
})
afterAll(() => {
  vi.unstubAllEnvs()
  bench.remove()
})

it('a GGUF file is trained with LoRA, and what is saved is a Hugging Face directory', { timeout: 60_000 }, async () => {
  const [model, file] = [join(bench.dir, 'bytes'), join(bench.dir, 'bytes.gguf')]
  await createModel({ out: model, layers: 2, hidden: 32, heads: 2, maxPositions: 64 })
  await exportGguf(model, file, { type: 'q8_0' })
  const engines = { 'trainer.trainer_type': 'native', 'explorer.rollout_model.engine_type': 'native' }
  const workflow = 'buffer.explorer_input.taskset.default_workflow_type'
  const lora = { 'model.lora_configs': [{ lora_rank: 4, lora_alpha: 8 }] }
  const keys = {
    ...engines,
    ...lora,
    'model.model_path': file,
    'buffer.total_steps': 2,
    [workflow]: 'later_is_better_workflow',
  }
  const { end, summary } = await bench.run(keys, { openEngine })
  expect(end).toBe('finished')
  const [saved, given] = [await openModelDir(summary.checkpoint!), await openModelDir(file)]
  expect(saved.tensorNames().sort()).toEqual(given.tensorNames().sort())
  const changed: string[] = []
  for (const name of given.tensorNames()) {
    const [was, is] = [await given.readTensor(name), await saved.readTensor(name)]
    if (was.some((x, i) => x !== is[i])) changed.push(name)
  }
  expect(changed).toContain('model.layers.0.self_attn.q_proj.weight')
  const norm = 'model.norm.weight'
  expect(await saved.readTensor(norm)).toEqual(await given.readTensor(norm))
  const [before, after] = [await Tokenizer.load(model), await Tokenizer.load(summary.checkpoint!)]
  expect(after.encode('Ω 12')).toEqual(before.encode('Ω 12'))
  expect(after.chatTemplate).toBe(before.chatTemplate)
})
