import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sharedData } from '../support/shared-data.js'
import { Example, PLUGINS, root } from './kit.js'

const example = new Example()
afterAll(() => example.close())
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

describe('offline', { timeout: 120_000 }, () => {
  it('sft.yaml: the answers become likelier', async () => {
    expect(await example.run('offline/sft.yaml', { 'buffer.total_steps': 20 })).toMatchObject({ code: 0, stderr: '' })
    const losses = example.series('offline/sft', 'trainer', 'actor/loss')
    expect(losses).toHaveLength(20)
    expect(mean(losses.slice(-5))).toBeLessThan(0.8 * mean(losses.slice(0, 2)))
  })

  it('dpo.yaml: the better answers win', async () => {
    expect(await example.run('offline/dpo.yaml', { 'buffer.total_steps': 20 })).toMatchObject({ code: 0, stderr: '' })
    const losses = example.series('offline/dpo', 'trainer', 'actor/loss')
    expect(losses[0]).toBeCloseTo(Math.LN2, 2)
    expect(mean(losses.slice(-5))).toBeLessThan(0.9 * losses[0])
  })
})

describe('plugins', { timeout: 120_000 }, () => {
  const short = { 'buffer.total_steps': 3, 'explorer.eval_interval': 0, 'explorer.eval_on_startup': false }

  it('custom_algorithm.yaml trains with the formula of the plugin', async () => {
    const ended = await example.run('plugins/custom_algorithm.yaml', short, ['--plugin-dir', PLUGINS])
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(example.series('quickstart/soft_grpo', 'trainer', 'actor/ratio')).toHaveLength(3)
  })

  it('custom_workflow.yaml lets the model try twice', async () => {
    const ended = await example.run('plugins/custom_workflow.yaml', short, ['--plugin-dir', PLUGINS])
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    const tries = example.series('quickstart/second_chance', 'explorer', 'rollout/tries/mean')
    expect(tries).toHaveLength(3)
    for (const value of tries) expect(value).toBeGreaterThan(1)
  })
})

describe('two processes', { timeout: 180_000 }, () => {
  it('explore.yaml and train.yaml meet in one job', async () => {
    const set = {
      'buffer.total_steps': 4,
      'synchronizer.sync_interval': 2,
      'explorer.eval_interval': 0,
      'explorer.eval_on_startup': false,
    }
    const both = [
      example.run('two_processes/explore.yaml', set),
      example.run('two_processes/train.yaml', { ...set, 'trainer.total_steps': 4 }),
    ]
    for (const ended of await Promise.all(both)) expect(ended).toMatchObject({ code: 0 })
    const job = 'quickstart/two_processes'
    expect(example.series(job, 'trainer', 'actor/grad_norm')).toHaveLength(4)
    expect(Math.max(...example.series(job, 'explorer', 'rollout/model_version'))).toBeGreaterThan(0)
  })
})

describe('grid world', { timeout: 300_000 }, () => {
  beforeAll(() => void execFileSync(process.execPath, [join(root, 'examples/grid_world/make.mjs')], { cwd: root }))

  it('grid_world.yaml: answers first, then walks', async () => {
    const ended = await example.run('grid_world/grid_world.yaml', {
      'stages.0.buffer.total_steps': 40,
      'buffer.total_steps': 3,
      'explorer.eval_interval': 0,
      'explorer.eval_on_startup': false,
    })
    expect(ended).toMatchObject({ code: 0 })
    const valid = example.series('grid_world/walk/walk', 'explorer', 'rollout/valid_move/mean')
    expect(valid).toHaveLength(3)
    expect(mean(valid)).toBeGreaterThan(0.5)
    expect(existsSync(join(example.out, 'grid_world/walk/answers/latest_checkpointed_iteration.txt'))).toBe(true)
  })
})

const chat = sharedData('models/minimind2_small_hf')
describe.skipIf(chat.absent)(`a chat model of 26 million parameters${chat.note}`, { timeout: 300_000 }, () => {
  it('chat_model.yaml trains it for two steps', async () => {
    const ended = await example.run('chat_model/chat_model.yaml', {
      'model.model_path': chat.path,
      'buffer.total_steps': 2,
      'buffer.batch_size': 2,
      'model.max_response_tokens': 24,
      'explorer.eval_interval': 0,
      'explorer.eval_on_startup': false,
    })
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(example.series('chat_model/addition', 'trainer', 'actor/updates')).toEqual([1, 1])
  })
})
