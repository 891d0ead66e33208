import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { createModel } from '../../src/model/create.js'
import { trinity } from '../run/cli-kit.js'
import { testData } from '../support/test-data.js'
import { root } from './kit.js'

const home = mkdtempSync(join(tmpdir(), 'trinity-verl-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

/** Small models and few tasks where the examples look for large ones. */
beforeAll(async () => {
  const small = { layers: 1, hidden: 16, heads: 2, maxPositions: 2048 }
  await createModel({ out: join(home, 'deepseek-ai/deepseek-llm-7b-chat'), ...small })
  await createModel({ out: join(home, 'models/Qwen2-7B-Instruct'), ...small })
  await createModel({ out: join(home, 'models/FsfairX-LLaMA3-RM-v0.1'), ...small, head: 'sequence' })
  for (const set of ['gsm8k', 'math']) {
    const folder = join(home, 'data', set)
    mkdirSync(folder, { recursive: true })
    for (const split of ['train', 'test']) {
      const rows = Array.from({ length: 4 }, (_, i) => JSON.stringify({ prompt: `${i}+1=`, answer: `#### ${i + 1}` }))
      writeFileSync(join(folder, `${split}.jsonl`), `${rows.join('\n')}\n`)
    }
  }
})

const SMALL = {
  'buffer.batch_size': 4,
  'buffer.total_steps': 2,
  'model.max_prompt_tokens': 1024,
  'model.max_response_tokens': 8,
  'monitor.monitor_type': 'tensorboard',
}

async function run(name: string, more: Record<string, unknown>) {
  const set = Object.entries({ ...SMALL, ...more }).flatMap(([key, value]) => ['--set', `${key}=${value}`])
  const file = join(root, 'examples/verl', `${name}_example.yaml`)
  return trinity(home, ['run', '-c', file, ...set], undefined, { HOME: home })
}

function metrics(job: string): Record<string, number>[] {
  const file = join(home, 'checkpoints', job, 'monitor/trainer.jsonl')
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  return lines.map((line) => (JSON.parse(line) as { metrics: Record<string, number> }).metrics)
}

describe("veRL's examples", { timeout: 120_000 }, () => {
  it('grpo_example.yaml: GRPO with a KL to the reference', async () => {
    const ended = await run('grpo', { 'buffer.train_batch_size': 32 })
    expect(ended.code, ended.stderr).toBe(0)
    const steps = metrics('verl_grpo_example_gsm8k/deepseek_llm_7b_function_rm_seq_packing')
    expect(steps).toHaveLength(2)
    expect(steps[0]).toMatchObject({ 'sample/experience_count': 32, 'actor/kl_coef': 0.001 })
  })

  it('ppo_example.yaml: a critic learns from what a reward model says', async () => {
    const ended = await run('ppo', { 'buffer.train_batch_size': 4 })
    expect(ended.code, ended.stderr).toBe(0)
    const steps = metrics('verl_example/Qwen2-7B-Instruct_hybrid_rm')
    expect(steps).toHaveLength(2)
    expect(steps[0]).toHaveProperty('critic/vf_loss')
    expect(steps[0]['critic/score/max']).not.toBe(steps[0]['critic/score/min'])
  })

  const { path, absent, note } = testData('documented')
  it.skipIf(absent).each(['grpo', 'ppo'])(`%s_example.yaml is the documented one with a workflow${note}`, (name) => {
    const read = (file: string) => parse(readFileSync(file, 'utf8'))
    const { buffer, ...own } = read(join(root, 'examples/verl', `${name}_example.yaml`))
    const { default_workflow_type, ...explorer_input } = buffer.explorer_input
    expect({ ...own, buffer: { ...buffer, explorer_input } }).toEqual(read(join(path, `${name}_example.yaml`)))
    expect(default_workflow_type).toMatch(/^math_(rm_)?workflow$/)
  })
})
