import { describe, expect, it } from 'vitest'
import { modelOf, speaker, text } from '../../../test/support/workflow-kit.js'
import { advantageFns } from '../../algorithm/advantage/registry.js'
import type { Experience } from '../../experience/index.js'
import { act, isReflection, learned, run, WAY } from './kit.fixture.js'
import { report } from './report.fixture.js'
import { readReport, reportSchema } from './report.js'

const NAME = 'R3L_alfworld_workflow'
const LOST = ['look', 'inventory', 'help'].map(act)
const decoded = ({ tokens }: Experience) => text.tokenizer.decode(tokens, { skipSpecial: false })
describe('R3L', () => {
  it('retries from the pivot with guidance, and learns it without', async () => {
    const retry = WAY.map(act)
    const { experiences, prompts } = await run(
      NAME,
      { replies: [...LOST, ...retry], thoughts: [report({ retry_from_step: 1 })] },
      { max_env_steps: 3, imitate: 'never' },
    )
    // three steps, a reflection, and the two that are left
    expect(prompts).toHaveLength(6)
    expect(prompts.filter(isReflection)).toHaveLength(1)
    expect(prompts[4]).toContain('WISDOM')
    expect(prompts[5]).toContain('WISDOM')
    const [base, second] = experiences
    expect(experiences).toHaveLength(2)
    expect(base.eid).toMatchObject({ task: '7_explore', run: 0 })
    expect(second.eid).toMatchObject({ task: '7_explore', run: 8 })
    expect(learned(base)).toEqual(LOST.slice(1))
    expect(learned(second)).toEqual(retry.slice(0, 2))
    expect(decoded(second)).not.toContain('WISDOM')
    expect(decoded(second)).toContain(LOST[0])
    expect(decoded(second).match(/<\|user\|>/g)).toHaveLength(3)
    expect(base.metrics).toMatchObject({ success: 0, steps: 3, reward: 0, reflection_unusable: 0 })
    expect(second.metrics).toEqual({
      second_success: 0,
      second_steps: 3,
      second_reward: 0,
      second_improve: 0,
      second_reward_diff: 0,
      pivot_point: 1,
    })
  })

  it('imitates reflection and retry where the retry earned more', async () => {
    const { experiences } = await run(
      NAME,
      { replies: [...LOST, act('examine bed 1'), ...WAY.map(act)], thoughts: [report()] },
      { max_env_steps: 4 },
    )
    const [base, second, reflection, retry] = experiences
    expect(experiences.map(({ eid }) => eid.task)).toEqual(['7_explore', '7_explore', '7_reflect_0', '7_retry_0'])
    expect(experiences.map(({ reward }) => reward)).toEqual([0, 1, 1, 1])
    expect(experiences.map(({ info }) => info.is_expert === true)).toEqual([false, false, true, true])
    expect(base.metrics.success).toBe(0)
    expect(second.metrics).toMatchObject({ second_success: 1, second_improve: 1, second_reward_diff: 1 })
    expect(learned(second)).toEqual(WAY.map(act))
    expect(learned(reflection)).toEqual([report()])
    expect(decoded(reflection)).toContain(LOST[2])
    expect(learned(retry)).toEqual(WAY.map(act))
    expect(decoded(retry)).toContain('Previous Attempt Analysis & Guidance')
    expect(decoded(second)).not.toContain('Guidance')
  })

  it.each([
    ['no_json', 'I would do better.'],
    ['no_json', '{"trajectory_summary": '],
    ['no_field', '{}'],
    ['outcome', report({ trajectory_outcome: 'Failure' })],
    ['outcome', report({ trajectory_outcome: 'success' })],
    ['no_advice', report({ improvement_suggestion: null })],
    ['pivot', report({ retry_from_step: 3 })],
  ])('counts a reflection that cannot be used: %s', async (why, thought) => {
    const { experiences } = await run(NAME, { replies: LOST, thoughts: [thought] }, { max_env_steps: 3 })
    expect(experiences).toHaveLength(1)
    expect(experiences[0].metrics).toMatchObject({ reflection_unusable: 1, [`reflection_unusable/${why}:sum`]: 1 })
    expect(learned(experiences[0])).toEqual(LOST)
  })

  it('thinks about failures alone, unless told otherwise', async () => {
    const perfect = report({ trajectory_outcome: 'success', retry_from_step: null })
    const script = { replies: WAY.map(act), thoughts: [perfect] }
    const quiet = await run(NAME, script)
    expect(quiet.experiences.map(({ eid }) => eid.task)).toEqual(['7_explore'])
    const all = await run(NAME, script, { reflect_on: 'all' })
    expect(all.experiences.map(({ eid }) => eid.task)).toEqual(['7_explore', '7_reflect_0'])
    expect(all.experiences[0].metrics).toMatchObject({ reflection_perfect: 1, success: 1 })
  })
})

describe('a report that is held to its schema', () => {
  it('of a failure can be used whenever it fits its schema', async () => {
    // a model that knows nothing
    const model = modelOf(await speaker(undefined, { maxModelLen: 8000 }), { limits: { maxModelLen: 8000 } })
    const messages = [{ role: 'user', content: 'reflect' }]
    for (const steps of [1, 4, 25]) {
      const [{ responseText = '' }] = await model.chat(messages, { guided_json: reportSchema(steps, false) })
      expect(readReport(responseText, steps)).toMatchObject({ isPerfect: false, pivot: expect.any(Number) })
    }
    const [{ responseText = '' }] = await model.chat(messages, { guided_json: reportSchema(3, true) })
    expect(JSON.parse(responseText).trajectory_outcome).toMatch(/^success/)
  })
})

describe('what the algorithm makes of a pair', () => {
  const pair = () =>
    run(
      NAME,
      {
        replies: [...LOST, 'hm', ...WAY.map(act)],
        thoughts: [report({ retry_from_step: 1 })],
      },
      { max_env_steps: 6 },
    )
  /** Advantages where something is learned, in whole turns. */
  const advantages = (experiences: Experience[], args: object) =>
    advantageFns
      .get('opmd_reweight_adv')
      .compute(experiences, advantageFns.parse('opmd_reweight_adv', args, 'args') as Record<string, unknown>, {
        random: () => 0,
      })
      .experiences.map(({ advantages, actionMask }) => {
        expect([...advantages!].filter((_, i) => !actionMask[i]).every((a) => a === 0)).toBe(true)
        return [...new Set([...advantages!].filter((_, i) => actionMask[i]))]
      })

  it('amplifies the success, masks what is shared, and counts examples once', async () => {
    const { experiences } = await pair()
    expect(experiences.map(({ reward }) => reward)).toEqual([0, 1, 1, 1])
    expect(advantages(experiences, {})).toEqual([[-0.5], [3], [1], [1]])
    expect(advantages(experiences, { rule: 'code' })).toEqual([[-0.5], [1], [1], [1]])
    expect(advantages(experiences, { rule: 'none' })).toEqual([[-0.5], [0.5], [1], [1]])
    expect(experiences.map((one) => learned(one).length)).toEqual([3, 4, 1, 4])
  })
})

describe('the rules of the code, by name', () => {
  const replies = [...LOST, ...WAY.map(act)]
  const thoughts = [report({ retry_from_step: 1 })]

  it('without credit the shared steps are learned in both', async () => {
    for (const [name, more] of [
      ['R3L_alfworld_w_o_credit_workflow', {}],
      [NAME, { credit: 'none' }],
    ] as const) {
      const { experiences } = await run(name, { replies, thoughts }, { max_env_steps: 3, imitate: 'never', ...more })
      const [base, second] = experiences
      expect(learned(base)).toEqual(LOST)
      expect(learned(second)).toEqual([LOST[0], ...replies.slice(3, 5)])
    }
  })

  it('inverted: of the first attempt, what comes before the pivot', async () => {
    const args = { max_env_steps: 3, imitate: 'never', credit: 'inverted' }
    const { experiences } = await run(NAME, { replies, thoughts }, args)
    expect(learned(experiences[0])).toEqual(LOST.slice(0, 1))
    expect(learned(experiences[1])).toEqual(replies.slice(3, 5))
  })

  it('guided: the retry is learned with what it was told', async () => {
    const args = { max_env_steps: 3, imitate: 'never', context: 'guided' }
    const { experiences } = await run(NAME, { replies, thoughts }, args)
    expect(decoded(experiences[1])).toContain('WISDOM')
    expect(learned(experiences[1])).toEqual(replies.slice(3, 5))
  })

  it('solved: a better retry that fails is not imitated, a shorter success is', async () => {
    const groups = (experiences: Experience[]) => experiences.map(({ eid }) => eid.task)
    const long = [act('look'), ...WAY.map(act), ...WAY.map(act)]
    const shorter = { replies: long, thoughts: [report({ trajectory_outcome: 'success_but_inefficient' })] }
    const solved = await run(NAME, shorter, { reflect_on: 'all', imitate: 'solved' })
    expect(groups(solved.experiences)).toEqual(['7_explore', '7_explore', '7_reflect_0', '7_retry_0'])
    const better = await run(NAME, shorter, { reflect_on: 'all' })
    expect(groups(better.experiences)).toEqual(['7_explore', '7_explore'])
  })

  it('random: a step at random, and not a word', async () => {
    const args = { max_env_steps: 3, reflection: 'random', imitate: 'never' }
    const { experiences, prompts } = await run(NAME, { replies }, args)
    expect(prompts.some(isReflection)).toBe(false)
    const pivot = experiences[1].metrics.pivot_point
    expect(learned(experiences[0])).toEqual(LOST.slice(pivot))
    expect(prompts[3]).toContain(LOST.slice(0, pivot).join('').slice(0, 10))
  })

  it('without reflection and retry only the first attempt is left, and so in an evaluation', async () => {
    for (const [more, given] of [
      [{ reflect_retry: false }, {}],
      [{}, { isEval: true }],
    ] as const) {
      const { experiences, prompts } = await run(NAME, { replies, thoughts }, { max_env_steps: 3, ...more }, given)
      expect(prompts).toHaveLength(3)
      expect(experiences).toHaveLength(1)
    }
  })
})

describe('R3L step by step', () => {
  it('learns the steps from the pivot on, without guidance', async () => {
    // A reply of bad form ends the first attempt.
    const replies = [...LOST.slice(0, 2), 'hm', ...WAY.map(act)]
    const script = { replies, thoughts: [report({ retry_from_step: 1 })] }
    const { experiences } = await run('step_R3L_alfworld_workflow', script, { max_env_steps: 5 })
    const explored = experiences.filter(({ eid }) => eid.task === '7_explore')
    expect(explored.map(({ eid, reward }) => [eid.run, eid.step, reward])).toEqual([
      [0, 1, 0],
      [0, 2, 0],
      [8, 1, 1],
      [8, 2, 1],
      [8, 3, 1],
      [8, 4, 1],
    ])
    for (const one of explored) expect(decoded(one)).not.toContain('WISDOM')
    const imitated = experiences.filter(({ info }) => info.is_expert)
    expect(imitated.map(({ eid }) => eid.task)).toEqual(['7_reflect_0', ...Array(4).fill('7_retry_0')])
    expect(decoded(imitated[1])).toContain('WISDOM')
    expect(new Set(experiences.map(({ metrics }) => metrics.reflection_unusable))).toEqual(new Set([0, undefined]))
  })
})

describe('Reflect-GRPO', () => {
  const first = [...LOST, 'hm']
  const script = { replies: [...first, ...WAY.map(act)], thoughts: [report({ retry_from_step: 2 })] }
  const play = (run_: number) =>
    run('reflect_grpo_alfworld_workflow', script, { max_env_steps: 4 }, { context: { run: run_ } })

  it('retries from the start in the second half of the runs, all in one group', async () => {
    expect((await play(3)).experiences).toHaveLength(1)
    const { experiences } = await play(4)
    expect(experiences.map(({ eid }) => eid.task)).toEqual(['', ''])
    expect(experiences.map(({ reward }) => reward)).toEqual([0, 1])
    expect(learned(experiences[0])).toEqual(first)
    expect(learned(experiences[1])).toEqual(WAY.map(act))
  })
})
