import { expect, it } from 'vitest'
import { allFailed } from './all-failed.js'

const told = (reasons: Record<string, number>) =>
  allFailed('step 1', { runs: 2, reasons, first: ['one failed'] } as Parameters<typeof allFailed>[1], {
    path: 'log',
    hint: 'look there',
  })

it('says what only a person can change, in words that hold for agents and workflows alike', () => {
  const error = told({ invalid_reward: 2 })
  expect(error.code).toBe('explorer/nothing-usable')
  // an agent that gives no reward has failed as well (docs/agents.md)
  expect(error.hint).toMatch(/finite number; throw an error/)
  expect(error.hint).not.toContain('undefined')
})

it('leaves the hint as it is where another try might help', () => {
  expect(told({ invalid_reward: 1, timeout: 1 })).toMatchObject({ code: 'explorer/all-failed', hint: 'look there' })
})
