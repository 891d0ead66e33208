import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { killOnce, resultOf, runCase, seeded } from '../../scripts/kill-test.mjs'
import { cli, trinity } from './cli-kit.js'

const ASCII = Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i)).join('')

/** A model that knows nothing: its reports have the right form and say anything, and its retries go anywhere. */
const YAML = `
project: kill
name: job
algorithm: {algorithm_type: R3L, repeat_times: 4, optimizer: {lr: 1.0e-2}}
model: {model_path: model, max_model_len: 1500, max_response_tokens: 6}
buffer:
  batch_size: 4
  total_steps: 4
  train_batch_size: 10
  explorer_input:
    taskset:
      path: tasks.jsonl
      default_workflow_type: R3L_environment_workflow
      workflow_args:
        environment: number_line
        environment_args: {prompt: brief, max_position: 3}
        max_env_steps: 4
        reflection: schema
        reflection_prompt: brief
        reflection_max_tokens: 600
    eval_tasksets:
      - name: held
        path: tasks.jsonl
        default_workflow_type: R3L_environment_workflow
        workflow_args: \${buffer.explorer_input.taskset.workflow_args}
explorer: {eval_interval: 4, runner_per_model: 4}
synchronizer: {sync_offset: 1}
trainer: {save_interval: 1}
monitor: {monitor_type: jsonl}
`

describe('a run of R3L', () => {
  let dir: string

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'trinity-r3l-'))
    mkdirSync(join(dir, 'plugins'))
    writeFileSync(join(dir, 'r3l.yaml'), YAML)
    const rows = Array.from({ length: 8 }, (_, seed) => JSON.stringify({ seed }))
    writeFileSync(join(dir, 'tasks.jsonl'), `${rows.join('\n')}\n`)
    const shape = ['--layers', '1', '--hidden', '32', '--heads', '2', '--max-positions', '1500', '--seed', '1']
    const made = await trinity(dir, ['model', 'new', '--out', 'model', '--tokenizer', `chars:${ASCII} \n`, ...shape])
    expect(made.code, made.stderr).toBe(0)
  })
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  it('that is killed and started again ends with the bytes and numbers of one that was not', {
    timeout: 240_000,
  }, async () => {
    const begun = Date.now()
    const out = join(dir, 'whole')
    const { code, output } = await runCase(cli, dir, 'r3l', out).done
    expect(code, output).toBe(0)
    const expected = resultOf(out)
    const numbers = readFileSync(join(out, 'kill/job/monitor/explorer.jsonl'), 'utf8')
    for (const name of ['second_improve', 'pivot_point', 'reflection_unusable']) {
      expect(numbers).toContain(`rollout/${name}/mean`)
    }
    const seconds = (Date.now() - begun) / 1000
    const result = await killOnce({ cli, dir, name: 'r3l', expected, seconds, random: seeded(5), most: 2 })
    expect(result.differences, result.out).toEqual([])
  })
})
