import { expect, it } from 'vitest'
import { tokenCheck } from './token-check.js'

it('knows its token, and refuses everything else', () => {
  const isRight = tokenCheck('abcd')
  expect(isRight('abcd')).toBe(true)
  for (const given of ['abce', 'abc', 'äbcd', '', undefined, 4, ['abcd']]) expect(isRight(given)).toBe(false)
})
