import { expect, it } from 'vitest'
import { retryAfterMs, waitMs } from './retry.js'

it('waits double each time, up to a limit, never all at once', () => {
  const policy = { times: 9, firstMs: 100, mostMs: 1000 }
  expect([0, 1, 2, 3, 4, 40].map((attempt) => waitMs(attempt, policy, 0, () => 1))).toEqual([
    100, 200, 400, 800, 1000, 1000,
  ])
  expect(waitMs(2, policy, 0, () => 0)).toBe(200)
})

it('comes back no earlier than it was asked to, also later than its own limit', () => {
  const policy = { times: 1, firstMs: 100, mostMs: 1000 }
  expect(waitMs(0, policy, 5000, () => 0)).toBe(5000)
  expect(waitMs(0, policy, 5000, () => 1)).toBe(5100)
  expect(waitMs(5, policy, 10, () => 1)).toBe(20)
})

it('reads Retry-After in each of its forms', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  expect(retryAfterMs({ 'retry-after': '7' })).toBe(7000)
  expect(retryAfterMs({ 'retry-after': '0.5' })).toBe(500)
  expect(retryAfterMs({ 'retry-after': 'Thu, 01 Jan 2026 00:00:03 GMT' }, now)).toBe(3000)
  expect(retryAfterMs({ 'retry-after': 'Thu, 01 Jan 2025 00:00:03 GMT' }, now)).toBe(0)
  expect(retryAfterMs({ 'retry-after-ms': '250', 'retry-after': '9' })).toBe(250)
  for (const none of ['', ' ', 'soon', '-3']) expect(retryAfterMs({ 'retry-after': none }, now) ?? 0).toBe(0)
  expect(retryAfterMs({})).toBeUndefined()
})
