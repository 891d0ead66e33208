import { describe, expect, it } from 'vitest'
import { createExperience, type ExperienceInit } from '../../experience/create.js'
import type { Experience } from '../../experience/experience.js'
import type { OperatorResult } from '../operator.js'
import { operators } from '../registry.js'

async function run(name: string, experiences: Experience[], args = {}): Promise<OperatorResult> {
  const entry = operators.get(name)
  const before = structuredClone(experiences)
  const operator = await entry.create(entry.args.parse(args) as never, {})
  const result = await operator.process(experiences)
  // An operator works on copies: the raw experiences may still be on their way to a file.
  expect(experiences).toStrictEqual(before)
  return result
}

const make = (task: number, init: Partial<ExperienceInit> = {}) =>
  createExperience({ tokens: [1, 2, 3, 4], promptLength: 3, ...init, eid: { batch: 0, task, ...init.eid } })
const rewards = (result: OperatorResult) => result.experiences.map((e) => e.reward)
const group = (task: number, ...list: (number | undefined)[]) =>
  list.map((reward, i) => make(task, { ...(reward === undefined ? {} : { reward }), eid: { run: i } }))

describe('operators', () => {
  it.each(operators.names())('%s has a line for people and refuses unknown arguments', (name) => {
    const { doc, args } = operators.get(name)
    expect(doc.length).toBeGreaterThan(20)
    expect(args.safeParse({ no_such_argument: 1 }).success).toBe(false)
    expect(args.safeParse({}).success).toBe(true)
  })

  it('reward_filter keeps what reaches the threshold; an absent reward does not', async () => {
    const list = group(0, -1, 0, 0.5, undefined, Number.NaN)
    expect(rewards(await run('reward_filter', list))).toEqual([0, 0.5])
    const result = await run('reward_filter', list, { threshold: 0.5 })
    expect(result).toMatchObject({ metrics: { filtered_count: 4 }, dropped: { 'no reward': 2, 'reward below 0.5': 2 } })
  })

  it('RAFT_filter keeps what is worth imitating', async () => {
    const result = await run('RAFT_filter', group(0, 0, 0.29, 0.3, 1, undefined))
    expect(rewards(result)).toEqual([0.3, 1])
    // The advantage stage of RAFT then keeps both, not only the better one.
    expect(result.experiences.map(({ info }) => info.is_kept)).toEqual([true, true])
  })

  it('OPMD_filter drops missing rewards and placeholders', async () => {
    const placeholder = createExperience({ tokens: [1, 2], promptLength: 1, reward: 0 })
    const result = await run('OPMD_filter', [...group(0, 1, undefined, -1), placeholder])
    expect(rewards(result)).toEqual([1, -1])
    expect(result.dropped).toEqual({ 'no reward': 1, placeholder: 1 })
  })

  it('invalid_reward_filter tells absent from NaN', async () => {
    const result = await run('invalid_reward_filter', group(0, 0, undefined, Number.NaN, 2))
    expect(rewards(result)).toEqual([0, 2])
    expect(result).toMatchObject({ metrics: { filtered_count: 2 }, dropped: { 'no reward': 1, 'reward is NaN': 1 } })
  })

  it('reward_std_filter drops groups that cannot teach, and tells about all of them', async () => {
    const list = [...group(0, 1, 0, 1, 0), ...group(1, 0.1, 0.1, 0.1), ...group(2, 1), ...group(3, 1, undefined)]
    const result = await run('reward_std_filter', list)
    expect(rewards(result)).toEqual([1, 0, 1, 0])
    expect(result.dropped).toEqual({ 'group deviation not above 0': 3, 'group of one': 2, 'no reward': 1 })
    expect(result.metrics).toMatchObject({
      operator_filtered_count: 6,
      'origin_group_advantages/reward_std/max': 0.5,
      'origin_group_advantages/reward_std/min': 0,
      'origin_group_advantages/reward_mean/max': 0.5,
    })
    expect((await run('reward_std_filter', list, { threshold: 0.5 })).experiences).toEqual([])
  })

  it('dapo_dynamic_sampling keeps mixed groups, by metric or else by reward', async () => {
    const list = [
      ...group(0, 1, 0),
      ...group(1, 1, 1),
      ...group(2, 0, 0, 0),
      ...group(3, 1),
      ...group(4, undefined, 1, 0),
    ]
    const result = await run('dapo_dynamic_sampling', list)
    expect(result.experiences.map((e) => e.eid.task)).toEqual([0, 0, 4, 4])
    expect(result.metrics).toEqual({ filtered_count: 7, dropped_all_correct: 2, dropped_all_wrong: 3 })
    expect(result.dropped).toEqual({ 'all correct': 2, 'all wrong': 3, 'group of one': 1, 'no score': 1 })

    const scored = [0.9, 0.2].map((accuracy, run) => make(9, { reward: 5, metrics: { accuracy }, eid: { run } }))
    expect((await run('dapo_dynamic_sampling', scored)).experiences).toHaveLength(0)
    expect((await run('dapo_dynamic_sampling', scored, { correct_threshold: 0.5 })).experiences).toHaveLength(2)
    expect((await run('dapo_dynamic_sampling', scored, { metric_key: 'other' })).experiences).toHaveLength(0)
  })

  it('mask_response_truncated takes cut answers out of the loss', async () => {
    const result = await run('mask_response_truncated', [make(0), make(1, { truncateStatus: 'response_truncated' })])
    expect(result.experiences.map((e) => [...e.actionMask])).toEqual([[1], [0]])
    expect(result.metrics).toEqual({ masked_truncated_count: 1 })
  })

  it('reward_shaping_mapper applies its steps in order', async () => {
    const list = [
      make(0, { reward: 1, info: { quality: 0.5, length: 4 } }),
      make(1, { reward: 1, info: { quality: 2, length: 0 } }),
      make(2, { reward: 1 }),
      make(3, { info: { quality: 1 } }),
    ]
    const reward_shaping_configs = [
      { stats_key: 'quality', op_type: 'ADD', weight: 2 },
      { stats_key: 'length', op_type: 'DIV' },
    ]
    const result = await run('reward_shaping_mapper', list, { reward_shaping_configs })
    // (1 + 1) / 4; 1 + 4, division by zero passed over; nothing to go by; no reward stays no reward.
    expect(rewards(result)).toEqual([0.5, 5, 1, undefined])
    expect(result.metrics).toEqual({ 'reward_diff/mean': 3.5 / 3, 'reward_diff/max': 4, 'reward_diff/min': -0.5 })
    const others = await run('reward_shaping_mapper', list.slice(0, 1), {
      reward_shaping_configs: [
        { stats_key: 'length', op_type: 'MUL' },
        { stats_key: 'quality', op_type: 'SUB' },
      ],
    })
    expect(rewards(others)).toEqual([3.5])
  })

  it('pass_rate_calculator tells selectors the mean reward of each task', async () => {
    const at = (taskset_id: number, index: number, reward?: number) =>
      make(index, { ...(reward === undefined ? {} : { reward }), info: { task_index: { taskset_id, index } } })
    const example = at(0, 7, 1)
    example.info.is_expert = true
    const list = [at(0, 7, 1), at(0, 7, 0), at(0, 8, 1), at(1, 7, 0), at(1, 9), make(5, { reward: 1 }), example]
    const result = await run('pass_rate_calculator', list)
    expect(result.experiences).toHaveLength(7)
    expect(result.feedback).toEqual({
      0: { indices: [7, 8], values: [0.5, 1] },
      1: { indices: [7], values: [0] },
    })
    expect(result.metrics).toEqual({
      'selection/valid_ratio': 1 / 3,
      'selection/strict_valid_ratio': 1 / 3,
      'selection/<1_ratio': 2 / 3,
      'selection/>0_ratio': 2 / 3,
      'selection/<15_16_ratio': 2 / 3,
      'selection/>1_16_ratio': 2 / 3,
    })
  })
})
