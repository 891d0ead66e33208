import { afterEach, expect, it, vi } from 'vitest'
import { Waiters } from './waiters.js'

afterEach(() => vi.restoreAllMocks())

const request = (deadlineMs: number) => ({
  who: 'trainer',
  deadlineMs,
  reason: () => '4 experiences',
  code: 'buffer/timeout',
  hint: 'wait longer',
})

it('a clock that is set while somebody waits changes no deadline', async () => {
  const waiters = new Waiters('b')
  let there: number | undefined
  const waiting = waiters.until(request(60_000), () => there)
  const now = Date.now()
  vi.spyOn(Date, 'now').mockReturnValue(now + 3_600_000)
  waiters.wake()
  await Promise.resolve()
  there = 1
  waiters.wake()
  expect(await waiting).toBe(1)
})

it('a deadline is kept, and says who waited for what', async () => {
  const now = Date.now()
  vi.spyOn(Date, 'now').mockReturnValue(now)
  await expect(new Waiters('b').until(request(20), () => undefined)).rejects.toMatchObject({
    code: 'buffer/timeout',
    message: 'trainer waited 0.02 s for 4 experiences',
  })
})
