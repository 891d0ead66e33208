import { describe, expect, it } from 'vitest'
import { text } from '../../../test/support/workflow-kit.js'
import { act, run, WAY } from './kit.fixture.js'

const LOST = ['look', 'inventory', 'help', 'look'].map(act)
const isCritique = (prompt: string) => prompt.includes('You review what an agent did')
const given = { context: { repeat: 3, run: 4 }, repeatTimes: 8 }
const args = { max_env_steps: 4 }

describe('Critique-GRPO', () => {
  it.each([
    ['critique_grpo_alfworld_workflow', 1],
    ['step_critique_grpo_alfworld_workflow', 4],
  ])('%s: the best refinement takes the place of what it refines', async (name, each) => {
    const replies = [...LOST, ...WAY.map(act), ...LOST, ...LOST, ...WAY.map(act)]
    const script = { replies, thoughts: ['HINT one', 'HINT two'], about: isCritique }
    const { experiences, prompts } = await run(name, script, args, given)
    expect(prompts.filter(isCritique)).toHaveLength(2)
    expect(prompts.filter((prompt) => !isCritique(prompt) && prompt.includes('HINT two'))).toHaveLength(4)
    expect(experiences.map(({ eid }) => eid.run)).toEqual([4, 5, 6].flatMap((run) => Array(each).fill(run)))
    const [first, second, third] = [0, each, 2 * each].map((at) => experiences[at])
    expect([first, second, third].map(({ reward }) => reward)).toEqual([0, 1, 1])
    expect([first, second, third].map(({ info }) => info.is_off_policy === true)).toEqual([false, false, true])
    // One group, and the numbers of the first attempts.
    expect(experiences.map(({ eid }) => eid.task)).toEqual(experiences.map(() => ''))
    expect([first, second, third].map(({ metrics }) => metrics.success)).toEqual([0, 1, 0])
    expect([first, third].map(({ metrics }) => metrics.second_improve)).toEqual([0, 1])
    for (const { tokens } of experiences) expect(text.tokenizer.decode(tokens)).not.toContain('HINT')
  })

  it('without a better refinement everything stays as it was', async () => {
    const script = { replies: [...LOST, ...LOST], thoughts: ['HINT'], about: isCritique }
    const { experiences } = await run('critique_grpo_alfworld_workflow', script, args, { context: { repeat: 1 } })
    expect(experiences).toHaveLength(1)
    expect(experiences[0].info.is_off_policy).toBeUndefined()
    expect(experiences[0].metrics).toMatchObject({ second_improve: 0, second_reward: 0 })
  })

  it('evaluates without a critique', async () => {
    const script = { replies: [...LOST, ...LOST], about: isCritique }
    const { prompts } = await run('critique_grpo_alfworld_workflow', script, args, {
      isEval: true,
      context: { repeat: 2 },
    })
    expect(prompts).toHaveLength(8)
  })
})
