import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testData } from '../support/test-data.js'
import { Example, root } from './kit.js'

const example = new Example()
afterAll(() => example.close())
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

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

describe('three attempts', { timeout: 300_000 }, () => {
  it('countdown_attempts.yaml: the reward rises, and so does what is solved at once', async () => {
    const set = { 'explorer.eval_interval': 100, 'trainer.save_interval': 0 }
    const ended = await example.run('countdown_attempts/countdown_attempts.yaml', set)
    expect(ended).toMatchObject({ code: 0 })
    const job = 'countdown_attempts/three'
    const of = (name: string) => example.series(job, 'explorer', `eval/${name}/mean@1`)
    const [[before, after], [first, last]] = [of('within-3/success'), of('at-once/success')]
    expect(after).toBeGreaterThan(before + 0.3)
    expect(last).toBeGreaterThan(first + 0.25)
    const rewards = example.series(job, 'explorer', 'rollout/reward/mean')
    expect(mean(rewards.slice(-10))).toBeGreaterThan(mean(rewards.slice(0, 10)) + 0.25)
    expect(of('within-3/attempts').at(-1)).toBeLessThan(2)
  })
})

const chat = testData('models/minimind2_small_hf')
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
