import { expect, it } from 'vitest'
import { blockedError, busyNote } from './report.js'

const report = { seconds: 2, place: '/p/a.mjs:3:1', rollouts: ['1/2/0 (spin)'] }

it('names the place and the rollout, or some of those that it may be', () => {
  expect(blockedError(report)).toMatchObject({
    code: 'run/blocked',
    path: '/p/a.mjs:3:1',
    message: 'code of a plugin did not let go of the event loop for 2 s in rollout 1/2/0 (spin): /p/a.mjs:3:1',
  })
  expect(blockedError({ ...report, rollouts: ['a', 'b', 'c', 'd'] }).message).toContain('in one of a, b, c, …')
  expect(blockedError({ ...report, rollouts: [] }).message).toContain('for 2 s: /p/a.mjs:3:1')
  expect(busyNote(report)).toBe('the event loop has stood still for 2 s: /p/a.mjs:3:1')
})
