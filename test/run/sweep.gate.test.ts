import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createModel } from '../../src/model/index.js'
import { trinity } from './cli-kit.js'

let dir: string
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'trinity-sweep-'))
  const tokenizer = { kind: 'chars', characters: '0123456789+=' } as const
  await createModel({ out: join(dir, 'model'), layers: 1, hidden: 16, heads: 2, maxPositions: 64, tokenizer })
  const rows = Array.from({ length: 24 }, (_, i) => ({ q: `${i}+${i}=`, a: String(2 * i) }))
  writeFileSync(join(dir, 'tasks.jsonl'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  writeFileSync(join(dir, 'base.yaml'), BASE)
  writeFileSync(join(dir, 'sweep.yaml'), SWEEP)
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const SET =
  'path: ./tasks.jsonl, default_workflow_type: simple_workflow, default_reward_fn_type: math_reward, format: {prompt_type: plaintext, prompt_key: q, response_key: a}'
const BASE = `
mode: both
algorithm: {algorithm_type: grpo, repeat_times: 2, kl_loss_fn: none}
model: {model_path: ./model, max_prompt_tokens: 24, max_response_tokens: 4}
buffer:
  batch_size: 2
  # many: the second run must not be over before we get to kill it
  total_steps: 32
  explorer_input:
    taskset: {${SET}}
    eval_tasksets: [{name: held, ${SET}}]
explorer: {eval_interval: 4}
trainer: {save_interval: 1}
monitor: {monitor_type: none}
`
const SWEEP = `
config: base.yaml
arms:
  good:
  bad: {set: {buffer.explorer_input.taskset.path: ./nowhere.jsonl}}
seeds: [1, 2]
axis: tokens
`
const log = (run: string) => readFileSync(join(dir, `checkpoints/sweep/${run}.log`), 'utf8')

describe('trinity sweep', { timeout: 120_000 }, () => {
  it('is killed, goes on, and does not let a failing arm stop the other', async () => {
    let runs: number | undefined
    const first = await trinity(dir, ['sweep', 'sweep.yaml'], (text, child) => {
      // while the second run is under way
      const file = join(dir, 'checkpoints/sweep/good-seed_2/latest_checkpointed_iteration.txt')
      if (!text.includes('good-seed_2: begins')) return
      runs ??= setInterval(() => existsSync(file) && child.kill('SIGKILL'), 20) as unknown as number
    })
    clearInterval(runs)
    expect(first.signal).toBe('SIGKILL')

    const second = await trinity(dir, ['sweep', 'sweep.yaml'])
    expect(second).toMatchObject({ code: 1 })
    expect(second.stdout).toContain('1 of 4 runs were finished before')
    expect(second.stdout).not.toContain('good-seed_1: begins')
    expect(log('good-seed_2')).toContain('resumes from step')
    expect(second.stderr.match(/^failed bad-seed_[12]: .*nowhere\.jsonl/gm)).toHaveLength(2)
    expect(second.stdout).toMatch(/good +2 +\S+ ± \S+ /)
    for (const name of ['table.txt', 'chart.svg']) expect(existsSync(join(dir, 'checkpoints/sweep', name))).toBe(true)

    // nothing is left to do but the arm that fails: another table at once
    const only = ['--set', 'buffer.explorer_input.taskset.path=./tasks.jsonl']
    const third = await trinity(dir, ['sweep', 'sweep.yaml', ...only, '--dry-run'])
    expect(third.stdout.match(/^done /gm)).toHaveLength(2)
    expect(third.stdout.match(/^to do /gm)).toHaveLength(2)
  })

  it('refuses what cannot be run before anything runs, and what is not the sweep that was begun', async () => {
    const grid = ['--grid', 'algorithm.optimzer.lr=1,2']
    const wrong = await trinity(dir, ['sweep', '-c', 'base.yaml', ...grid, '--name', 'wrong'])
    expect(wrong).toMatchObject({ code: 2 })
    expect(wrong.stderr).toContain('optimzer')
    expect(existsSync(join(dir, 'checkpoints/wrong'))).toBe(false)
    const other = await trinity(dir, ['sweep', 'sweep.yaml', '--set', 'algorithm.optimizer.lr=0.5'])
    expect(other).toMatchObject({ code: 2 })
    expect(other.stderr).toMatch(/good-seed_1 was begun with other values: algorithm\.optimizer\.lr/)
  })
})
