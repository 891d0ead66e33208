import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type Environment, environment, environments } from '../../src/environment/index.js'
import { BASE, Bench } from './kit.js'

/** The model of these runs only says digits: each stands for an action of a real world, and one of them is right. */
let bench: Bench
let dir: string
beforeAll(async () => {
  bench = await Bench.make()
  dir = mkdtempSync(join(tmpdir(), 'trinity-learning-'))
  const mail = {
    message_id: '<a>',
    date: '2001-05-14 09:30:00',
    subject: 'Room',
    from: 'a@x',
    to: ['b@x'],
    body: 'It is room 6.',
  }
  writeFileSync(join(dir, 'mails.jsonl'), JSON.stringify(mail))
})
afterAll(async () => {
  await bench.remove()
  rmSync(dir, { recursive: true, force: true })
})

const DIGITS = Array.from({ length: 10 }, (_, digit) => digit)
const WORLDS = {
  intercode_sql: {
    row: {
      query: 'How many are older than 6?',
      gold: 'SELECT count(*) FROM t WHERE a > 6',
      setup: `CREATE TABLE t AS WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n WHERE a < 10) SELECT a FROM n`,
    },
    args: () => ({}),
    actions: DIGITS.map((digit) => `SELECT count(*) FROM t WHERE a > ${digit}`),
  },
  email_search: {
    row: {
      question: 'In which room?',
      answer: 'Room 6',
      message_ids: ['<a>'],
      inbox_address: 'b@x',
      query_date: '2001-06-01',
    },
    args: () => ({ database: join(dir, 'mails.jsonl') }),
    actions: DIGITS.map((digit) =>
      JSON.stringify({ name: 'generate_response', arguments: { answer: `room ${digit}`, sources: ['<a>'] } }),
    ),
  },
}

for (const [name, { row, args, actions }] of Object.entries(WORLDS)) {
  environments.add(
    `${name}_by_digit`,
    environment({
      doc: `${name} with ten actions`,
      args: z.strictObject({}),
      maxSteps: 1,
      create: async (_, context): Promise<Environment> => {
        const { entry, args: parsed } = {
          entry: environments.get(name),
          args: environments.parse(name, args(), 'args'),
        }
        const world = await entry.create(parsed as never, context)
        return { reset: (_episode, signal) => world.reset({ row, seed: 0 }, signal), step: world.step.bind(world) }
      },
      persona: () => ({ prompt: () => '0', action: (reply) => actions[Number(reply[0])] ?? '' }),
    }),
  )
}

const mean = (all: readonly number[]) => all.reduce((sum, one) => sum + one, 0) / all.length

describe('the rewards of a world lead to its answer', { timeout: 120_000 }, () => {
  it.each(Object.keys(WORLDS))('%s', async (world) => {
    const keys = {
      ...{
        name: world,
        'algorithm.algorithm_type': 'grpo',
        'algorithm.repeat_times': 16,
        'algorithm.kl_loss_fn': 'none',
      },
      ...{ 'algorithm.optimizer.lr': 0.3, 'model.max_response_tokens': 1, 'explorer.eval_interval': 0 },
      ...{ 'buffer.total_steps': 20, 'buffer.train_batch_size': 32 },
    }
    const text = BASE.replaceAll(
      'count_workflow',
      `step_wise_environment_workflow, workflow_args: {environment: ${world}_by_digit, reward: final}`,
    )
    expect((await bench.run(keys, { text })).end).toBe('finished')
    const rewards = bench.metrics('explorer', world).flatMap((row) => row['rollout/reward/mean'] ?? [])
    expect(mean(rewards.slice(-3))).toBeGreaterThan(mean(rewards.slice(0, 3)) + 0.3)
  })
})
