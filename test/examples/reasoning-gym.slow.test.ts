import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testPython } from '../support/python.js'
import { Example, root } from './kit.js'

const python = testPython('reasoning-gym')
const example = new Example()
afterAll(() => example.close())
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

describe.skipIf(python.absent)(`a mix of reasoning-gym${python.note}`, { timeout: 900_000 }, () => {
  beforeAll(() => {
    // the example takes it from there, as a user's would
    process.env.TRINITY_PYTHON = python.path
    execFileSync(process.execPath, [join(root, 'examples/reasoning_gym/make.mjs')], { cwd: root })
  }, 300_000)

  it('reasoning_gym.yaml: the reward rises, on new tasks too', async () => {
    const ended = await example.run('reasoning_gym/reasoning_gym.yaml')
    expect(ended).toMatchObject({ code: 0 })
    const series = (name: string) => example.series('reasoning_gym/mix/mix', 'explorer', name)
    const rewards = series('rollout/reward/mean')
    expect(mean(rewards.slice(-10))).toBeGreaterThan(mean(rewards.slice(0, 10)) + 0.15)
    const evaluated = series('eval/new-tasks/reward/mean@1')
    expect(evaluated.at(-1)).toBeGreaterThan(evaluated[0] + 0.15)
    const solved = series('eval/new-tasks/success/mean@1')
    expect(solved.at(-1)).toBeGreaterThan(solved[0] + 0.15)
    expect(Math.max(...series('rollout/judge_failed/mean'))).toBe(0)
  })
})
