import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { facts } from '../../test/config-kit.js'
import { readText } from '../config/load.js'
import { checkConfigs } from './check.js'
import { dryRun } from './dry-run.js'

const here = facts({ cwd: resolve('.') })
const text = `algorithm: {algorithm_type: grpo, repeat_times: 1}
model: {model_path: ${resolve('test/fixtures/tiny-llama')}, max_model_len: 64}
explorer: {rollout_model: {engine_type: native}}
trainer: {trainer_type: native}
buffer:
  batch_size: 2
  explorer_input:
    taskset:
      path: ${resolve('examples/quickstart/countdown')}
      format: {prompt_key: question, response_key: answer}
      default_workflow_type: simple_workflow
      default_reward_fn_type: countdown_reward
`
const file = (name: string, content: string) => ({ file: name, read: () => readText(content, name, { env: {} }) })

it('of several configurations each is checked, whatever is wrong with another', async () => {
  const wrong = text.replace('countdown_reward', 'countdown_rewart')
  const [good, unknown, broken] = await checkConfigs(
    [file('a.yaml', text), file('b.yaml', wrong), file('c.yaml', 'a: [')],
    here,
  )
  expect([good.ok, good.problems, good.resolved?.stages.length]).toEqual([true, [], 1])
  expect(unknown.problems).toMatchObject([
    { severity: 'error', hint: expect.stringContaining('countdown_reward'), mark: { file: 'b.yaml', line: 12 } },
  ])
  expect([broken.ok, broken.resolved]).toEqual([false, undefined])
  expect(broken.problems[0]).toMatchObject({ severity: 'error', code: 'yaml', mark: { file: 'c.yaml', line: 1 } })
})

it('a dry run tells what would happen, and what is worth a word', async () => {
  const [{ resolved }] = await checkConfigs([file('a.yaml', text)], here)
  const { stages, warnings } = await dryRun(resolved!, here, undefined)
  const plan = Object.fromEntries(stages[0].lines)
  expect(plan.step).toContain('2 tasks × 1 rollouts explored, 2 experiences trained')
  expect(plan.resume).toContain('starts at step 0')
  expect(warnings).toEqual([expect.stringContaining('algorithm.repeat_times is 1')])
  const fresh = await dryRun(resolved!, here, undefined, true)
  expect(Object.fromEntries(fresh.stages[0].lines).resume).toContain('--fresh deletes')
})
