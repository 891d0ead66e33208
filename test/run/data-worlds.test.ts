import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { trinity } from './cli-kit.js'

/** Worlds whose tasks come from `trinity data`: made and trained on as a user does it. */
let dir: string
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'trinity-data-worlds-'))
  const model = ['--layers', '1', '--hidden', '16', '--heads', '1', '--max-positions', '6000', '--tie']
  expect(await trinity(dir, ['model', 'new', '--out', 'model', ...model])).toMatchObject({ code: 0, stderr: '' })
}, 60_000)
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const yaml = (workflow: string, args: string, algorithm: string) => `mode: both
project: p
name: ${workflow}
checkpoint_root_dir: out
algorithm: {algorithm_type: ${algorithm}, repeat_times: 2, kl_loss_fn: none}
model: {model_path: model, max_model_len: 6000, max_response_tokens: 8}
buffer:
  batch_size: 2
  train_batch_size: ${algorithm === 'grpo' ? 4 : 8}
  total_steps: 2
  explorer_input:
    taskset: {path: data/${workflow}, split: train, default_workflow_type: ${workflow}, workflow_args: ${args}}
explorer: {runner_per_model: 4, max_retry_times: 0}
trainer: {save_interval: 0}
monitor: {monitor_type: jsonl}
`

describe('trinity data and trinity run', { timeout: 180_000 }, () => {
  it.each([
    [
      'intercode_sql',
      'grpo',
      '{databases: data/intercode_sql_workflow/database, max_env_steps: 2}',
      { 'rollout/env_rounds/mean': 2, 'rollout/reward/mean': 0, 'rollout/action_executed/mean': 0 },
    ],
    [
      'email_search',
      'multi_step_grpo',
      '{database: data/email_search_workflow/mails.db, max_turns: 2}',
      { 'rollout/actual_turns/mean': 2, 'rollout/reward/mean': -1, 'rollout/format/mean': -1 },
    ],
  ])('%s', async (world, algorithm, args, metrics) => {
    const workflow = `${world}_workflow`
    const made = await trinity(dir, ['data', world, '--out', `data/${workflow}`, '--train', '8', '--test', '2'])
    expect(made.code).toBe(0)
    writeFileSync(join(dir, `${world}.yaml`), yaml(workflow, args, algorithm))
    const ended = await trinity(dir, ['run', '-c', `${world}.yaml`])
    // a random model earns the same reward everywhere, so that no gradient changes its weights
    expect(ended).toMatchObject({ code: 3, stderr: '', stdout: expect.stringContaining('the weights did not change') })
    const lines = readFileSync(join(dir, 'out/p', workflow, 'monitor/explorer.jsonl'), 'utf8')
      .trim()
      .split('\n')
    for (const line of lines.slice(0, 2)) expect(JSON.parse(line).metrics).toMatchObject(metrics)
  })
})
