import { expect, it } from 'vitest'
import { TrinityError } from '../base/error.js'
import { statusOf } from './status.js'

it.each([
  ['studio/key', 401],
  ['studio/outside', 403],
  ['studio/no-run', 404],
  ['studio/running', 409],
  ['studio/stop', 409],
  ['studio/unknown-files', 409],
  ['checkpoint/in-use', 409],
  ['studio/query', 400],
  ['config/invalid', 400],
  ['buffer/broken', 500],
])('%s is answered with %i', (code, status) => {
  expect(statusOf(new TrinityError(code, 'x'))).toBe(status)
})

it('what nobody foresaw is a failure', () => {
  expect(statusOf(new TypeError('x'))).toBe(500)
})
