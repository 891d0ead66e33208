import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { trinity } from '../run/cli-kit.js'
import { Example, root } from './kit.js'

const example = new Example()
const dir = mkdtempSync(join(tmpdir(), 'trinity-agents-'))
const made = (...path: string[]) => join(root, 'examples/agents/made', ...path)
beforeAll(() => void execFileSync(process.execPath, [join(root, 'examples/agents/make.mjs')], { cwd: root }), 240_000)
afterAll(() => {
  example.close()
  rmSync(dir, { recursive: true, force: true })
})

describe('an agent that knows nothing of training', { timeout: 300_000 }, () => {
  it('learns to call its tools, over HTTP, by one command and without a configuration', async () => {
    const data = ['--data', made('tasks/train.jsonl'), '--eval', made('tasks/test.jsonl'), '--model', made('model')]
    const more = ['--lr', '8e-4', '--batch', '16', '--steps', '20', '--set', `checkpoint_root_dir=${example.out}`]
    const ended = await trinity(dir, ['train', join(root, 'examples/agents/plain/agent.ts'), ...data, ...more])
    expect(ended, ended.stderr).toMatchObject({ code: 0 })
    const rewards = example.series('agents/shop', 'explorer', 'eval/held-out/reward/mean@1')
    expect(rewards[0]).toBeLessThan(0.6)
    expect(rewards.at(-1)).toBeGreaterThan(rewards[0] + 0.2)
    const divergences = example.series('agents/shop', 'explorer', 'rollout/token_divergences/max')
    expect(divergences).toHaveLength(20)
    expect(Math.max(...divergences)).toBe(0)
  })

  it('may be written in Python and run as a program', async () => {
    const short = { 'buffer.total_steps': 2, 'buffer.batch_size': 2, 'algorithm.repeat_times': 2 }
    const set = { ...short, 'explorer.eval_on_startup': false }
    const ended = await example.run('agents/python/agent.yaml', set)
    expect(ended, ended.stderr).toMatchObject({ code: 0 })
    const rewards = example.series('agents/python', 'explorer', 'rollout/reward/mean')
    expect(rewards).toHaveLength(2)
    expect(example.series('agents/python', 'explorer', 'rollout/failed_run_count')).toEqual([0, 0])
  })
})
