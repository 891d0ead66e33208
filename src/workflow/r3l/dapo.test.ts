import { describe, expect, it } from 'vitest'
import { overlong } from './dapo.js'
import { act, run, WAY } from './kit.fixture.js'

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
