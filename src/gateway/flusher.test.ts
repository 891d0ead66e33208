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
    const [a, b] = [slow(0), slow(0)]
    for (const one of [a, a, b]) flusher.add(one)
    flusher.delete(b)
    expect(a.at).toEqual([])
    await turn()
    expect([a, b].map(({ at }) => at.length)).toEqual([1, 0])
    await turn()
    flusher.add(a)
    await expect.poll(() => a.at.length).toBe(2)
  })

  it('rests after what took long, and others have their turn before a round is over', async () => {
    const flusher = new Flusher()
    const many = Array.from({ length: 80 }, () => slow(1))
    for (const one of many) flusher.add(one)
    await turn()
    expect(many.map(({ at }) => at.length).lastIndexOf(1)).toBe(1)
    await expect.poll(() => many.every(({ at }) => at.length === 1), { timeout: 5000 }).toBe(true)
    const order = many.map(({ at }) => at[0])
    expect(order).toEqual([...order].sort((a, b) => a - b))
    // 40 steps of at least 2 ms, and a rest of 6 ms after each
    expect(order[79] - order[0]).toBeGreaterThan(200)
  })
})
