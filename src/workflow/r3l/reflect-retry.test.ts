import { describe, expect, it } from 'vitest'
import { text } from '../../../test/support/workflow-kit.js'
import type { Experience } from '../../experience/index.js'
import { act, isReflection, report, run, WAY } from './kit.fixture.js'

const NAME = 'R3L_alfworld_workflow'
const LOST = ['look', 'inventory', 'help'].map(act)
const decoded = ({ tokens }: Experience) => text.tokenizer.decode(tokens, { skipSpecial: false })
/** What is learned of an experience, turn by turn. */
function learned({ tokens, promptLength, actionMask }: Experience): string[] {
  const turns: number[][] = []
  actionMask.forEach((on, i) => {
    if (!on) return
    if (!actionMask[i - 1]) turns.push([])
    turns[turns.length - 1].push(tokens[promptLength + i])
  })
  return turns.map((turn) => text.tokenizer.decode(Int32Array.from(turn)))
}

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
