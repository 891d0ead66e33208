import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { serve } from '../../src/cli/serve.js'
import { openEngine } from '../../src/engine/registry.js'
import { createModel } from '../../src/model/index.js'
import { Bench } from './kit.js'

/** Policy and judge are one native model; as the judge it is behind `trinity serve`, and held to the form of a verdict. */
const served = new AbortController()
let bench: Bench
let ended: Promise<unknown>

beforeAll(async () => {
  bench = await Bench.make()
  const model = join(bench.dir, 'judge')
  await createModel({ out: model, layers: 1, hidden: 16, heads: 2, maxPositions: 2048, tokenizer: { kind: 'bytes' } })
  const rubric = [{ description: 'is short', weight: 2 }, { description: 'is a number' }]
  const rows = Array.from({ length: 8 }, (_, i) => ({ q: `${i}+${i}=`, a: String(i % 10), rubric }))
  writeFileSync(join(bench.dir, 'tasks.jsonl'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  const url = await new Promise<string>((resolve, reject) => {
    const print = (line: string) => resolve(line.replace(/.* at /, ''))
    ended = serve(model, { port: '0' }, { print, signal: served.signal })
    ended.catch(reject)
  })
  process.env.TEST_JUDGE_URL = url
  process.env.TEST_JUDGE_KEY = 'EMPTY'
})
afterAll(async () => {
  served.abort()
  await ended
  bench.remove()
  delete process.env.TEST_JUDGE_URL
  delete process.env.TEST_JUDGE_KEY
})

const WHERE = '{model_name: judge, base_url_env: TEST_JUDGE_URL, api_key_env: TEST_JUDGE_KEY}'

/** Two steps that the judge rewards; what the explorer says of the last. */
async function judged(workflow: string, verdict: string): Promise<Record<string, number>> {
  const form = `{guided_regex: '${verdict}'}`
  const judge = `{name: judge, engine_type: openai, max_response_tokens: 32, external_model_config: ${WHERE}, extra_engine_args: ${form}}`
  await bench.run(
    {
      name: workflow,
      'model.model_path': join(bench.dir, 'judge'),
      'model.max_prompt_tokens': 1024,
      'explorer.rollout_model.engine_type': 'native',
      'trainer.trainer_type': 'native',
      'buffer.explorer_input.taskset.default_workflow_type': workflow,
      'explorer.auxiliary_models': `[${judge}]`,
      'buffer.total_steps': 2,
      'buffer.explorer_input.eval_tasksets': [],
    },
    { openEngine },
  )
  return bench
    .metrics('explorer', workflow)
    .filter((step) => 'hosted/judge/requests' in step)
    .at(-1)!
}

it('a hosted judge rates each answer against a rubric', async () => {
  const step = await judged('rubric_judge_workflow', '\\{"rating": ([1-9]|10)\\}')
  expect(step).toMatchObject({ 'rollout/judge_success/mean': 1, 'hosted/judge/requests': 9, 'hosted/judge/retries': 0 })
  expect(step['rollout/reward/mean']).toBeGreaterThanOrEqual(0.1)
  expect(step['rollout/reward/mean']).toBeLessThanOrEqual(1)
})

it('a hosted judge compares the answers to a task', async () => {
  const step = await judged('math_ruler_workflow', '\\[0\\.[0-9](, 0\\.[0-9]){1}\\]')
  expect(step).toMatchObject({ 'rollout/judge_success/mean': 1, 'hosted/judge/requests': 5 })
  expect(step['rollout/reward/mean']).toBeLessThanOrEqual(0.9)
})
