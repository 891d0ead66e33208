import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { Flusher, type Holding } from './flusher.js'

/** Notes when it was flushed, and takes so long for it. */
function slow(ms: number): Holding & { at: number[] } {
  const at: number[] = []
  const flush = () => {
    at.push(performance.now())
    while (performance.now() - at[at.length - 1] < ms) {}
  }
  return { at, flush }
}

describe('a flusher', () => {
  it('flushes at once where that costs nothing, each that holds something once', async () => {
    const flusher = new Flusher()
    const [a, b, c] = [slow(0), slow(0), slow(0)]
    for (const one of [a, b, a, c]) flusher.add(one)
    flusher.delete(c)
    expect(a.at).toEqual([])
    await turn()
    expect([a, b, c].map(({ at }) => at.length)).toEqual([1, 1, 0])
    await turn()
    expect(a.at.length).toBe(1)
  })

  it('rests the longer, the longer it took', async () => {
    const flusher = new Flusher()
    const one = slow(10)
    flusher.add(one)
    await turn()
    for (let i = 0; i < 20; i++) {
      flusher.add(one)
      await turn()
    }
    expect(one.at.length).toBe(1)
    await expect.poll(() => one.at.length).toBe(2)
    expect(one.at[1] - one.at[0]).toBeGreaterThan(90)
    const long = slow(300)
    flusher.add(long)
    await expect.poll(() => long.at.length).toBe(1)
    flusher.add(long)
    await expect.poll(() => long.at.length, { timeout: 2000 }).toBe(2)
  })
})
