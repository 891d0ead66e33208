import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { exitCodeOf, formatError } from '../../src/cli/print.js'
import { rewardFns } from '../../src/reward/index.js'
import { workflows } from '../../src/workflow/index.js'
import { Bench } from './kit.js'

let bench: Bench
let count = 0
let name = ''
let reward: unknown

beforeAll(async () => {
  bench = await Bench.make()
  workflows.add('odd_reward', async ({ model, task }) => {
    const experiences = await model.generate(String(task.raw.q), {})
    for (const one of experiences) one.reward = reward as number
    return experiences
  })
})
beforeEach(() => {
  name = `job${++count}`
})
afterAll(() => bench.remove())

const odd = { 'buffer.explorer_input.taskset.default_workflow_type': 'odd_reward' }

/** How a person would hear of it: the exit code and the first line. */
async function outcome(keys: Record<string, unknown>): Promise<{ code: number; line: string; hint: string }> {
  try {
    await bench.run({ name, ...keys })
    return { code: 0, line: '', hint: '' }
  } catch (error) {
    const [line, ...rest] = formatError(error, false).split('\n')
    return { code: exitCodeOf(error), line, hint: rest.join('\n') }
  }
}

/** The run is not marked as done: the same command runs it again. */
const isFinished = () => {
  const file = bench.job(name, 'run_meta.json')
  return existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).finished === true
}

describe('a run in which nothing can be trained on', () => {
  it.each([
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, 'Infinity'],
    ['good', "'good'"],
    [null, 'null'],
  ])('calls the reward %s what it is, names the workflow and ends with 2', async (value, shown) => {
    reward = value
    const { code, line, hint } = await outcome(odd)
    expect(code).toBe(2)
    expect(line).toContain(`workflow 'odd_reward' gave the reward ${shown}`)
    expect(line).toContain('invalid_reward 4')
    expect(hint).toContain('finite number')
    expect(isFinished()).toBe(false)
  })

  it('ends with 2 where a workflow gives no reward, and says so first', async () => {
    reward = undefined
    const { code, line, hint } = await outcome(odd)
    expect(code).toBe(2)
    expect(line).toMatch(/nothing .*12 experiences.*workflow 'odd_reward' gave no reward \(12\)/)
    expect(hint).toContain('reward')
    expect(isFinished()).toBe(false)
  })

  it.each([true, false])('ends with 2 where every prompt is too long (cut: %s)', async (cut) => {
    const { code, line, hint } = await outcome({
      'model.max_prompt_tokens': 2,
      'explorer.rollout_model.enable_prompt_truncation': cut,
      'buffer.total_steps': 2,
      'buffer.explorer_input.eval_tasksets': [],
    })
    expect(code).toBe(2)
    expect(line).toMatch(/prompt/)
    expect(hint).toContain('max_prompt_tokens')
    expect(isFinished()).toBe(false)
  })

  it('ends with 2 where an operator leaves nothing', async () => {
    reward = 1
    const { code, line } = await outcome({
      ...odd,
      'data_processor.experience_pipeline.operators': [{ name: 'reward_std_filter' }],
    })
    expect(code).toBe(2)
    expect(line).toContain('reward_std_filter')
  })

  it('ends with 2 where the trainer finds no reward in anything', async () => {
    reward = undefined
    const { code, line } = await outcome({ ...odd, 'algorithm.algorithm_type': 'reinforceplusplus' })
    expect(code).toBe(2)
    expect(line).toContain('nothing was trained in')
    expect(isFinished()).toBe(false)
  })

  it('trains on the others when some rewards are no numbers, and counts those', async () => {
    let calls = 0
    workflows.add('odd_sometimes', async ({ model, task }) => {
      const experiences = await model.generate(String(task.raw.q), {})
      for (const one of experiences) one.reward = calls++ % 4 === 3 ? Number.NaN : calls % 2
      return experiences
    })
    const { steps } = await bench.run({
      name,
      'buffer.explorer_input.taskset.default_workflow_type': 'odd_sometimes',
      'buffer.train_batch_size': 2,
    })
    expect(steps).toBeGreaterThan(0)
    const rows = bench.metrics('explorer', name)
    expect(rows.some((row) => row['rollout/failed/invalid_reward'] > 0)).toBe(true)
  })
})

describe('a folder that cannot be written to', () => {
  it('is said in words, before anything runs, with 2', async () => {
    const file = join(bench.dir, 'tasks.jsonl')
    const { code, line, hint } = await outcome({ checkpoint_root_dir: join(file, 'below') })
    expect(code).toBe(2)
    expect(line).toContain('is a file, not a folder')
    expect(hint).toContain('checkpoint_root_dir')
  })

  it('in the middle of a run names the file and the fix', async () => {
    const keys = { name, 'trainer.save_interval': 1 }
    await bench.run({ ...keys, 'buffer.total_steps': 1 })
    // in the place of a file that every checkpoint writes
    const place = bench.job(name, 'latest_checkpointed_iteration.txt')
    rmSync(place)
    mkdirSync(place)
    const { code, line, hint } = await outcome(keys)
    expect(code).toBe(1)
    expect(line).toContain(place)
    expect(hint).toContain('fix')
  })
})

describe('a judge that refuses every third call', () => {
  it('costs no rollout', async () => {
    let calls = 0
    rewardFns.add('refusing_judge', {
      doc: 'refuses every third call',
      args: z.strictObject({}),
      score: () => {
        if (++calls % 3 === 0) throw new Error('429 too many requests')
        return { judge: calls % 2 }
      },
    })
    const { steps } = await bench.run({
      name,
      'buffer.total_steps': 2,
      'buffer.explorer_input.eval_tasksets': [],
      'buffer.explorer_input.taskset.default_workflow_type': 'simple_workflow',
      'buffer.explorer_input.taskset.default_reward_fn_type': 'refusing_judge',
    })
    expect(steps).toBe(2)
    const rows = bench.metrics('explorer', name)
    expect(rows.map((row) => row['rollout/failed_run_count'])).toEqual([0, 0])
    expect(rows.map((row) => row['rollout/retried_run_count'])).toEqual([0, 0])
    expect(calls).toBeGreaterThan(8)
  })
})
