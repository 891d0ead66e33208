import { describe, expect, it } from 'vitest'
import { act, run, WAY } from './kit.fixture.js'

const LOST = ['look', 'inventory'].map(act)

describe('RAFT', () => {
  it.each(['raft_baseline_alfworld_workflow', 'step_raft_alfworld_workflow'])(
    '%s keeps what succeeds',
    async (name) => {
      const good = await run(name, { replies: WAY.map(act) })
      expect(good.experiences).toHaveLength(name.startsWith('step') ? 4 : 1)
      for (const { reward, actionMask } of good.experiences) expect([reward, actionMask.includes(1)]).toEqual([1, true])
      const bad = await run(name, { replies: LOST }, { max_env_steps: 2 })
      expect(bad.experiences).toHaveLength(1)
      expect([...bad.experiences[0].actionMask]).toEqual([0])
      expect(bad.experiences[0]).toMatchObject({ reward: 0, metrics: { success: 0, steps: 2 } })
      const seen = await run(name, { replies: LOST }, { max_env_steps: 2 }, { isEval: true })
      expect(seen.experiences[0].actionMask.includes(1)).toBe(true)
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
