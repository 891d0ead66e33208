import { expect, it } from 'vitest'
import { breather } from './breather.js'

/** Keeps the processor busy. */
function work(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

it('lets the event loop go on once the work has lasted for a while, and not before', async () => {
  const breathe = breather()
  let turns = 0
  const count = () => {
    turns++
    timer = setImmediate(count)
  }
  let timer = setImmediate(count)
  await breathe()
  const early = turns
  for (let i = 0; i < 8; i++) {
    work(6)
    await breathe()
  }
  clearImmediate(timer)
  expect(early).toBeLessThanOrEqual(1)
  expect(turns - early).toBeGreaterThanOrEqual(7)
})
