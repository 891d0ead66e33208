import { expect, it } from 'vitest'
import { prepareReward } from './prepare.js'
import { rewardFn } from './reward.js'

it('a reward function without arguments takes none', async () => {
  const fn = rewardFn({ doc: '1 for an answer', score: ({ response }) => ({ said: response === '' ? 0 : 1 }) })
  expect(await prepareReward(fn)({ response: 'a' })).toEqual({ reward: 1, parts: { said: 1 } })
  expect(() => prepareReward(fn, { limit: 3 })).toThrow(/limit/)
})

it('a reward function without score is refused where it is described', () => {
  const described = { doc: 'counts words' } as Parameters<typeof rewardFn>[0]
  expect(() => rewardFn(described)).toThrow(
    expect.objectContaining({ code: 'reward/no-score', message: expect.stringContaining('counts words') }),
  )
})
