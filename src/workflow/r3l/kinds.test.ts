import { describe, expect, it } from 'vitest'
import { text } from '../../../test/support/workflow-kit.js'
import { overlong } from './dapo.js'
import { act, run, WAY } from './kit.fixture.js'

const LOST = ['look', 'inventory', 'help', 'look'].map(act)

describe('RAFT', () => {
  it.each(['raft_baseline_alfworld_workflow', 'step_raft_alfworld_workflow'])(
    '%s keeps what succeeds',
    async (name) => {
      const good = await run(name, { replies: WAY.map(act) })
      expect(good.experiences).toHaveLength(name.startsWith('step') ? 4 : 1)
      for (const { reward, actionMask, info } of good.experiences)
        expect([reward, actionMask.includes(1), info.is_kept]).toEqual([1, true, true])
      const bad = await run(name, { replies: LOST }, { max_env_steps: 2 })
      expect(bad.experiences).toHaveLength(1)
      expect([...bad.experiences[0].actionMask]).toEqual([0])
      expect(bad.experiences[0]).toMatchObject({
        reward: 0,
        info: { is_kept: false },
        metrics: { success: 0, steps: 2 },
      })
      const seen = await run(name, { replies: LOST }, { max_env_steps: 2 }, { isEval: true })
      expect(seen.experiences[0].actionMask.includes(1)).toBe(true)
      expect(seen.experiences[0].info).not.toHaveProperty('is_kept')
    },
  )

  it('keeps whatever earned something, where told so', async () => {
    const args = { max_env_steps: 2, failure_reward: 0.2 }
    const won = await run('raft_baseline_alfworld_workflow', { replies: LOST }, args)
    expect(won.experiences[0].actionMask.includes(1)).toBe(false)
    const earned = await run('raft_baseline_alfworld_workflow', { replies: LOST }, { ...args, keep: 'rewarded' })
    expect(earned.experiences[0].actionMask.includes(1)).toBe(true)
  })
})

describe('DAPO', () => {
  it('punishes length as published', () => {
    const args = { enable_overlong_penalty: true, penalty_factor: 1, max_response_length: 512, cache_length: 400 }
    const at = (length: number) => overlong(length, args)
    expect([0, 111, 112, 212, 312, 512, 513].map(at)).toEqual([0, 0, 0, -0.25, -0.5, -1, -1])
    expect(overlong(512, { ...args, penalty_factor: 0.5 })).toBe(-0.5)
  })

  it('counts the longest reply, or everything behind the first prompt', async () => {
    const script = { replies: WAY.map(act) }
    const [short] = (await run('dapo_alfworld_workflow', script)).experiences
    expect(short).toMatchObject({ reward: 1, metrics: { overlong_penalty: 0, success: 1, reward: 1 } })
    const [long] = (await run('dapo_alfworld_workflow', script, { overlong_counts: 'all' })).experiences
    expect(long).toMatchObject({ reward: 0, metrics: { overlong_penalty: -1, success: 1, reward: 1 } })
    const reply = act(WAY[1]).length + 1
    const limits = { max_response_length: reply, cache_length: reply - 1 }
    const [edge] = (await run('dapo_alfworld_workflow', script, limits)).experiences
    expect(edge.reward).toBe(0)
    const steps = await run('step_dapo_alfworld_workflow', script, limits)
    expect(steps.experiences.map(({ reward }) => reward)).toEqual([0, 0, 0, 0])
    const off = await run('dapo_alfworld_workflow', script, { ...limits, enable_overlong_penalty: false })
    expect(off.experiences[0].reward).toBe(1)
  })

  it('an evaluation counts what the world gives', async () => {
    const args = { max_response_length: 2, cache_length: 1 }
    const { experiences } = await run('dapo_alfworld_workflow', { replies: WAY.map(act) }, args, { isEval: true })
    expect(experiences[0].reward).toBe(1)
  })
})

describe('Critique-GRPO', () => {
  const isCritique = (prompt: string) => prompt.includes('You review what an agent did')
  const given = { context: { repeat: 3, run: 4 }, repeatTimes: 8 }
  const args = { max_env_steps: 4 }

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
