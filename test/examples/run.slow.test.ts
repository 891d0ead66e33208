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
