import { describe, expect, it } from 'vitest'
import { modelOf, speaker } from '../../../test/support/workflow-kit.js'
import { rewarded } from './rewards.js'

/** A model that has answered so often, each time to the whole conversation. */
async function talked(turns: number) {
  const model = modelOf(await speaker(() => 'yes'))
  model.recordHistory()
  const messages = [{ role: 'user', content: 'well?' }]
  for (let turn = 0; turn < turns; turn++) {
    await model.chat(messages)
    messages.push({ role: 'assistant', content: 'yes' }, { role: 'user', content: 'really?' })
  }
  return model
}

describe('rewarded', () => {
  it.each([
    [0.5, 0.5, {}],
    [true, 1, {}],
    [false, 0, {}],
    [{ right: 1, short: 0.25 }, 1.25, { right: 1, short: 0.25 }],
  ])('%j is for all that was said', async (reward, sum, metrics) => {
    const [experience, ...more] = rewarded(reward, await talked(2), 'a')
    expect(more).toEqual([])
    expect(experience).toMatchObject({ type: 'multi_turn', reward: sum })
    expect(experience.metrics).toMatchObject(metrics)
  })

  it('a list is for the answers, one by one', async () => {
    const experiences = rewarded([0, 0.5, 1], await talked(3), 'a')
    expect(experiences.map(({ reward }) => reward)).toEqual([0, 0.5, 1])
    expect(experiences.map(({ eid }) => eid.step)).toEqual([0, 1, 2])
    const model = await talked(3)
    expect(() => rewarded([1], model, 'a')).toThrow(/1 rewards for 3 answers/)
  })

  it.each([undefined, null, 'good', { right: 'yes' }, {}, new Map([['a', 1]]), new Date(0), () => 1, 1n])(
    '%s is none',
    async (reward) => {
      const model = await talked(1)
      expect(() => rewarded(reward, model, 'a')).toThrow(
        expect.objectContaining({
          code: 'agent/no-reward',
          message: expect.stringMatching(/^agent 'a' returned .*; a reward is a number, true or false, /),
        }),
      )
    },
  )

  it('sequences of one rollout are told apart', async () => {
    const model = modelOf(await speaker(() => 'yes'))
    for (const content of ['one thing?', 'another thing?']) await model.chat([{ role: 'user', content }])
    expect(rewarded(1, model, 'a').map(({ eid, reward }) => [eid.step, reward])).toEqual([
      [0, 1],
      [1, 1],
    ])
  })

  it('without a call there is nothing to reward', async () => {
    const model = await talked(0)
    expect(() => rewarded(1, model, 'mute')).toThrow(expect.objectContaining({ code: 'agent/no-call' }))
  })
})
