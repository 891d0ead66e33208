import { describe, expect, it } from 'vitest'
import { experience, groups, scores } from '../../../test/algorithm/experiences.js'
import type { Experience } from '../../experience/index.js'
import { advantageFns } from './registry.js'

let draws = [0]
function run(name: string, experiences: readonly Experience[], args: Record<string, unknown> = {}) {
  const fn = advantageFns.get(name)
  let at = 0
  const random = () => draws[at++ % draws.length]
  return fn.compute(experiences, advantageFns.parse(name, args, 'args'), { random })
}
const close = (values: readonly number[], digits = 6) => values.map((value) => expect.closeTo(value, digits))

describe('grpo', () => {
  it('normalizes within the task: published mean and deviation', () => {
    const { experiences, metrics } = run('grpo', groups([0, 1, 2, 3, 4]))
    expect(scores(experiences)).toEqual(close([-2, -1, 0, 1, 2].map((x) => x / (1.5811388 + 1e-6))))
    expect(metrics).toMatchObject({
      'group_advantages/reward_mean/mean': 2,
      'group_advantages/reward_std/max': expect.closeTo(1.5811388, 6),
      filtered_count: 0,
    })
  })

  it('gives advantages only to tokens of the model, and returns that are a copy', () => {
    const [first] = run('grpo', groups([0, 1])).experiences
    expect([...first.advantages!].map(Math.sign)).toEqual([-1, 0, -1])
    expect(first.returns).toEqual(first.advantages)
    expect(first.returns).not.toBe(first.advantages)
  })

  it('leaves its input alone and keeps its order over interleaved groups', () => {
    const given = [experience(0, 0, 1), experience(1, 0, 5), experience(0, 1, 3), experience(1, 1, 9)]
    const { experiences } = run('grpo', given)
    expect(experiences.map((e) => [e.eid.task, e.eid.run])).toEqual([
      [0, 0],
      [1, 0],
      [0, 1],
      [1, 1],
    ])
    expect(given.every((e) => e.advantages === undefined)).toBe(true)
  })

  it('group of one: mean 0, deviation 1', () => {
    expect(scores(run('grpo', groups([3])).experiences)).toEqual(close([3 / (1 + 1e-6)]))
  })

  it('all rewards equal: advantage 0; with a threshold everything is left out', () => {
    const equal = groups([1, 1, 1, 1, 1], [2, 2, 2, 2, 2], [3, 3, 3, 3, 3])
    expect(scores(run('grpo', equal).experiences)).toEqual(Array(15).fill(0))
    const { experiences, metrics } = run('grpo', equal, { std_threshold: 0 })
    expect([experiences.length, metrics.filtered_count]).toEqual([0, 15])
  })

  it('masks truncated answers when asked, which still count in their group', () => {
    const cut = { truncateStatus: 'response_truncated' as const }
    const given = [experience(0, 0, 1), experience(0, 1, 0, cut), experience(1, 0, 1, cut), experience(1, 1, 1)]
    const { experiences, metrics } = run('grpo', given, { mask_truncated: true, std_threshold: 0 })
    expect(experiences.map(({ actionMask }) => actionMask.includes(1))).toEqual([true, false])
    expect(scores(experiences)[0]).toBeCloseTo(Math.SQRT1_2, 5)
    expect(metrics).toMatchObject({ masked_truncated_count: 1, filtered_count: 2 })
    const plain = run('grpo', given)
    expect(plain.experiences.every(({ actionMask }) => actionMask.includes(1))).toBe(true)
    expect(plain.metrics).not.toHaveProperty('masked_truncated_count')
  })

  it.each(['grpo', 'rloo', 'rec', 'opmd', 'grpo_verl'])(
    '%s: equal rewards that no sum holds exactly give exactly nothing',
    (name) => {
      for (const reward of [0.1, 0.7, 1 / 3]) {
        for (const size of [3, 6, 7, 8]) {
          const { experiences, metrics } = run(name, groups(new Array(size).fill(reward)))
          const spread = metrics['group_advantages/reward_std/min']
          if (spread !== undefined) expect(spread).toBe(0)
          for (const score of scores(experiences)) expect(Math.abs(score)).toBe(0)
        }
      }
    },
  )

  it('a missing or NaN reward is not zero: the experience is left out and counted', () => {
    const { experiences, metrics } = run('grpo', groups([0, undefined, 4, Number.NaN, 2]))
    expect(scores(experiences)).toEqual(close([-1, 1, 0].map((x) => x / (1 + 5e-7))))
    expect(metrics.missing_reward_count).toBe(2)
    expect(run('grpo', groups([undefined, undefined])).experiences).toEqual([])
    expect(run('grpo', []).experiences).toEqual([])
  })

  it('an empty mask gives advantages of 0', () => {
    const masked = experience(0, 0, 1, { actionMask: [0, 0, 0] })
    expect([...run('grpo', [masked, experience(0, 1, 0)]).experiences[0].advantages!]).toEqual([0, 0, 0])
  })

  it('deviation of the whole batch', () => {
    const all = [1, 2, 3, 11, 12, 13]
    const mean = 7
    const std = Math.sqrt(all.reduce((sum, x) => sum + (x - mean) ** 2, 0) / 5)
    const { experiences } = run('grpo', groups([1, 2, 3], [11, 12, 13]), { std_cal_level: 'batch' })
    expect(scores(experiences)).toEqual(close([-1, 0, 1, -1, 0, 1].map((x) => x / (std + 1e-6))))
    expect(scores(run('grpo', groups([4]), { std_cal_level: 'batch' }).experiences)).toEqual(close([4 / (1 + 1e-6)]))
  })

  it('rank penalty changes numerator and statistics alike', () => {
    const group = [0, 1, 2, 3].map((r) => experience(0, r, r, { logprobs: [r - 4, 99, r - 4] }))
    const adjusted = [0, 0.95, 1.8, 2.55]
    const mean = adjusted.reduce((a, b) => a + b) / 4
    const std = Math.sqrt(adjusted.reduce((sum, x) => sum + (x - mean) ** 2, 0) / 3)
    const got = scores(run('grpo', group, { rank_penalty: 0.2 }).experiences)
    expect(got).toEqual(close(adjusted.map((x) => (x - mean) / (std + 1e-6))))
    expect(got.reduce((a, b) => a + b)).toBeCloseTo(0, 5)
  })

  it('replaces groups that are left out by copies with ids of their own', () => {
    draws = [0.9, 0.11, 0.12, 0.1, 0.13, 0.14]
    const { experiences, metrics } = run('grpo', groups([1, 1], [0, 2], [5, 5], [0, 4]), {
      std_threshold: 0,
      duplicate_experiences: true,
    })
    expect(experiences.length).toBe(8)
    expect(metrics.filtered_count).toBe(4)
    expect(new Set(experiences.map((e) => e.eid.suffix)).size).toBe(8)
    expect(experiences.slice(4).every((e) => e.eid.task === 1 || e.eid.task === 3)).toBe(true)
    expect(run('grpo', groups([1, 1]), { std_threshold: 0, duplicate_experiences: true }).experiences).toEqual([])
  })
})

describe('group baselines', () => {
  it('opmd: mean, soft maximum, group of one', () => {
    expect(scores(run('opmd', groups([1, 2, 6])).experiences)).toEqual(close([-2, -1, 3]))
    const soft = 0.5 * Math.log((Math.exp(2) + Math.exp(4) + Math.exp(12)) / 3)
    const got = run('opmd', groups([1, 2, 6]), { opmd_baseline: 'logavgexp', tau: 0.5 })
    expect(scores(got.experiences)).toEqual(close([1 - soft, 2 - soft, 6 - soft]))
    expect(got.metrics['group_advantages/group_baseline/mean']).toBeCloseTo(soft, 10)
    expect(scores(run('opmd', groups([7])).experiences)).toEqual([7])
    expect(scores(run('opmd', groups([5000, 5000]), { opmd_baseline: 'logavgexp' }).experiences)).toEqual([0, 0])
  })

  it('asymre, reinforce, rloo', () => {
    expect(scores(run('asymre', groups([1, 3], [4])).experiences)).toEqual(close([-0.9, 1.1, 4]))
    expect(scores(run('reinforce', groups([1, 3])).experiences)).toEqual([1, 3])
    expect(scores(run('rloo', groups([1, 2, 6], [4])).experiences)).toEqual(close([1 - 4, 2 - 3.5, 6 - 1.5, 4]))
  })

  it('the trainer-side twins agree', () => {
    const given = groups([1, 2, 6], [0, 0], [3])
    for (const name of ['grpo', 'opmd', 'asymre']) {
      expect(scores(run(`${name}_verl`, given).experiences)).toEqual(scores(run(name, given).experiences))
    }
  })

  it('in the trainer, token rewards (with a penalty in them) come before the reward', () => {
    const given = [0, 1].map((r) => experience(0, r, 1, { tokenLevelReward: [0, 0, r] }))
    expect(scores(run('rloo', given).experiences)).toEqual([-1, 1])
    expect(scores(run('opmd', given).experiences)).toEqual([0, 0])
  })

  it('rec: mean, biased deviation, balance, group of one', () => {
    expect(scores(run('rec', groups([0, 0, 3])).experiences)).toEqual(close([-1, -1, 2]))
    const unit = Math.SQRT2 + 1e-6
    expect(scores(run('rec', groups([0, 0, 3]), { std_normalize: true }).experiences)).toEqual(
      close([-1 / unit, -1 / unit, 2 / unit]),
    )
    draws = [0.99]
    const balanced = run('rec', groups([0, 0, 0, 4]), { drop: 'balance' })
    expect(scores(balanced.experiences)).toEqual(close([-2, 0, 0, 2]))
    expect(balanced.metrics['group_advantages/drop_balance/mean']).toBe(0.5)
    // A member at the mean is no failure: one short of it, two not, so nothing is dropped.
    expect(scores(run('rec', groups([1, 0, 2]), { drop: 'balance' }).experiences)).toEqual(close([0, -1, 1]))
    expect(scores(run('rec', groups([5])).experiences)).toEqual([5])
  })

  it('reweighted: the rule of the code and that of the paper', () => {
    const given = groups([1, 0.8, 0])
    const base = [0.4, 0.2, -0.6]
    expect(scores(run('opmd', given).experiences)).toEqual(close(base))
    const reweighted = (args?: Record<string, unknown>) => scores(run('opmd_reweight_adv', given, args).experiences)
    expect(reweighted()).toEqual(close([3, 0.6, -0.6]))
    expect(reweighted({ alpha: 2 })).toEqual(close([2, 0.4, -0.6]))
    expect(reweighted({ rule: 'code' })).toEqual(close([1, 0.6, -0.6]))
    expect(reweighted({ rule: 'none' })).toEqual(close(base))
    const [, second, third] = scores(run('grpo', given).experiences)
    expect(scores(run('grpo_reweight_adv', given).experiences)).toEqual(close([3, 3 * second, third]))
  })

  it('reweighted: what is imitated counts once, whatever the rule', () => {
    const example = experience(5, 0, 1, { info: { is_expert: true } })
    for (const rule of ['paper', 'code', 'none']) {
      for (const name of ['opmd_reweight_adv', 'step_wise_opmd_reweight_adv']) {
        expect(scores(run(name, [example], { rule }).experiences)).toEqual([1])
      }
      expect(scores(run('grpo_reweight_adv', [example], { rule }).experiences)).toEqual(close([1 / (1 + 1e-6)]))
    }
  })
})

describe('runs of several steps', () => {
  const steps = (task: number, run_: number, rewards: (number | undefined)[], info: Record<string, unknown>[] = []) =>
    rewards.map((reward, step) =>
      experience(task, run_, reward, { eid: { batch: 0, task, run: run_, step }, info: info[step] ?? {} }),
    )

  it('score by the last step and give it to all', () => {
    const given = [...steps(0, 0, [0, 0, 1]), ...steps(0, 1, [undefined, 3])]
    const unit = Math.SQRT2 + 1e-6
    const { experiences, metrics } = run('step_wise_grpo', given)
    expect(scores(experiences)).toEqual(close([-1, -1, -1, 1, 1].map((x) => x / unit)))
    expect(metrics).toMatchObject({ experience_count: 5, filtered_count: 0, skipped_group_ratio: 0 })
    const normed = run('step_wise_grpo', given, { enable_step_norm: true })
    expect(scores(normed.experiences)).toEqual(close([-1 / 3, -1 / 3, -1 / 3, 1 / 2, 1 / 2].map((x) => x / unit)))
    expect(scores(run('step_wise_opmd', given).experiences)).toEqual([-1, -1, -1, 1, 1])
    expect(scores(run('step_wise_opmd_reweight_adv', given, { rule: 'code' }).experiences)).toEqual([1, 1, 1, 1, 1])
    expect(scores(run('step_wise_opmd_reweight_adv', given).experiences)).toEqual([3, 3, 3, 3, 3])
  })

  it('find the last step by its number, not by its place', () => {
    const [a, b] = steps(0, 0, [1, 5])
    expect(scores(run('step_wise_opmd', [b, a, ...steps(0, 1, [1])]).experiences)).toEqual([2, 2, -2])
  })

  it('leave out flat groups and runs without a final reward', () => {
    const given = [...steps(0, 0, [1, 1]), ...steps(0, 1, [1]), ...steps(1, 0, [0]), ...steps(1, 1, [2, undefined])]
    const { experiences, metrics } = run('step_wise_grpo', given, { std_threshold: 0 })
    expect(experiences).toEqual([])
    expect(metrics).toMatchObject({ filtered_count: 4, skipped_group_ratio: 1, missing_reward_count: 2 })
  })

  it('batch deviation is over runs', () => {
    const given = [...steps(0, 0, [0, 0]), ...steps(0, 1, [2]), ...steps(1, 0, [4]), ...steps(1, 1, [6])]
    const std = Math.sqrt(20 / 3)
    const got = scores(run('step_wise_grpo', given, { std_cal_level: 'batch' }).experiences)
    expect(got).toEqual(close([-1, -1, 1, -1, 1].map((x) => x / (std + 1e-6))))
  })

  it('gigpo: episode and same-state advantages', () => {
    const state = (hash?: string, reward?: number) => ({ env_state_hash: hash, step_reward: reward })
    const given = [
      ...steps(0, 0, [1, 1], [state('s', 0.5), state('x', 0.5)]),
      ...steps(0, 1, [0, 0], [state('s', 0), state(undefined)]),
    ]
    const { experiences, metrics } = run('gigpo', given, { gamma: 0.5, omega: 2 })
    const scale = 1 / (1 + 1e-6)
    // Totals 1 and 0: A_E = ±0.5. State s: to go 0.75 and 0, so A_S = ±0.375.
    expect(scores(experiences)).toEqual(close([0.5 + 0.75, 0.5, -0.5 - 0.75, -0.5].map((x) => x * scale)))
    expect(metrics).toMatchObject({
      'gigpo/anchor_groups_total': 2,
      'gigpo/anchor_groups_size_gt1': 1,
      'gigpo/anchor_group_hit_ratio': 0.5,
      'gigpo/mean_abs_A_E': expect.closeTo(0.5 * scale, 9),
      'gigpo/mean_abs_A_S': expect.closeTo((0.375 * scale) / 2, 9),
      experience_count: 4,
    })
  })

  it('gigpo: a run with a step reward that is not finite takes no part; the others are as without it', () => {
    const measured = (value: number) => [{ env_state_hash: 's', step_reward: value }, { env_state_hash: 's' }]
    const whole = [0, 1].flatMap((task) => [
      ...steps(task, 0, [1, 1], measured(1)),
      ...steps(task, 1, [0, 0], measured(0.25)),
    ])
    const broken = [Number.NaN, Number.POSITIVE_INFINITY].flatMap((bad, i) => steps(0, 2 + i, [1, 1], measured(bad)))
    const { experiences, metrics } = run('gigpo', [...broken, ...whole])
    const alone = run('gigpo', whole)
    expect(experiences).toEqual(alone.experiences)
    expect(metrics).toEqual({ ...alone.metrics, missing_reward_count: 4 })
  })

  it('gigpo without step rewards puts the reward at the last step; a single run is compared with nothing', () => {
    const { experiences } = run('gigpo', steps(0, 0, [undefined, 2]), { fnorm: 'std' })
    expect(scores(experiences)).toEqual(close([2, 2].map((x) => x / (1 + 1e-6))))
  })
})

it('every advantage function survives an empty batch', () => {
  for (const name of advantageFns.names()) expect([name, run(name, []).experiences]).toEqual([name, []])
})
