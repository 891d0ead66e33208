import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { environment, environments } from '../../src/environment/index.js'
import { BASE, Bench } from './kit.js'

let bench: Bench
beforeAll(async () => {
  bench = await Bench.make()
})
afterAll(() => bench.remove())

/** Wants its digit again and again; a wrong one is told and ends it after the third. */
environments.add(
  'one_digit',
  environment({
    doc: 'one digit is right',
    args: z.strictObject({ digit: z.string().default('7') }),
    maxSteps: 3,
    create: ({ digit }) => ({
      reset: () => ({ observation: '0' }),
      step: (action) => ({ observation: '1', reward: action === digit ? 1 : 0, done: false, won: action === digit }),
    }),
    persona: () => ({
      prompt: ({ observation }) => observation,
      action: (reply) => reply.at(0) ?? { observation: '2', reward: 0, done: false },
    }),
  }),
)

const text = (workflow: string, args: string) =>
  BASE.replaceAll('count_workflow', `${workflow}, workflow_args: {environment: one_digit${args}}`)
const mean = (all: readonly number[]) => all.reduce((sum, one) => sum + one, 0) / all.length

describe('a run in an environment learns', { timeout: 60_000 }, () => {
  const cases: [string, string, string, string][] = [
    ['concatenated', 'environment_workflow', '', 'grpo'],
    ['step by step', 'step_wise_environment_workflow', ', reward: step', 'grpo'],
    ['rewarded at the end', 'step_wise_environment_workflow', ', reward: final', 'multi_step_grpo'],
  ]
  it.each(cases)('%s', async (_, workflow, args, algorithm) => {
    const name = `${workflow}_${algorithm}`
    const keys = {
      name,
      'algorithm.algorithm_type': algorithm,
      'algorithm.repeat_times': 8,
      'algorithm.kl_loss_fn': 'none',
      'algorithm.optimizer.lr': 0.2,
      'model.max_response_tokens': 1,
      'buffer.total_steps': 40,
      'buffer.train_batch_size': workflow.startsWith('step') ? 48 : 16,
      'explorer.eval_interval': 0,
    }
    const { end } = await bench.run(keys, { text: text(workflow, args) })
    expect(end).toBe('finished')
    const steps = bench.metrics('explorer', name).filter((row) => 'rollout/actual_env_steps/mean' in row)
    expect(steps).toHaveLength(40)
    for (const row of steps) expect(row['rollout/actual_env_steps/mean']).toBe(3)
    const rewards = steps.map((row) => row['rollout/reward/mean'])
    expect(mean(rewards.slice(-5))).toBeGreaterThan(mean(rewards.slice(0, 5)) + 0.3)
  })
})

it('a step-wise run ends at total_steps, though a step makes more than the trainer takes', {
  timeout: 60_000,
}, async () => {
  const keys = {
    name: 'limited',
    'algorithm.algorithm_type': 'multi_step_grpo',
    'algorithm.repeat_times': 4,
    'model.max_response_tokens': 1,
    'buffer.total_steps': 5,
    'buffer.train_batch_size': 8,
    'explorer.eval_interval': 0,
  }
  const given = text('step_wise_environment_workflow', ', reward: final')
  expect(await bench.run(keys, { text: given })).toMatchObject({ end: 'finished', steps: 5 })
})
