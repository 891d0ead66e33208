import { describe, expect, it } from 'vitest'
import { deriveSeed } from '../base/random/derive-seed.js'
import { timeSlice } from './time-slice.js'

/** Keeps the processor busy. */
function work(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

describe('turn', () => {
  it('lets everything else go on between turns, first come first served', async () => {
    let loops = 0
    let counting = true
    const count = () => {
      loops++
      if (counting) setImmediate(count)
    }
    const order: number[] = []
    const callers = Array.from({ length: 100 }, async (_, i) => {
      await timeSlice()
      order.push(i)
      work(1)
    })
    setImmediate(count)
    await Promise.all(callers)
    counting = false
    expect(order).toEqual(Array.from({ length: 100 }, (_, i) => i))
    // 100 ms of work in slices of 5: without turns there would be one loop.
    expect(loops).toBeGreaterThan(10)
  })

  it('comes again and again, also to callers that ask during a turn', async () => {
    const nested = async (depth: number): Promise<number> => {
      await timeSlice()
      return depth === 0 ? 0 : 1 + (await nested(depth - 1))
    }
    expect(await Promise.all([nested(20), nested(5)])).toEqual([20, 5])
  })
})

describe('deriveSeed', () => {
  it('is a safe integer, the same for the same path, and another for any other', () => {
    const seen = new Map<number, string>()
    const add = (...path: (number | string)[]) => {
      const seed = deriveSeed(...path)
      expect(Number.isSafeInteger(seed) && seed >= 0).toBe(true)
      expect(deriveSeed(...path)).toBe(seed)
      expect(seen.has(seed), `${path} and ${seen.get(seed)}`).toBe(false)
      seen.set(seed, path.join())
    }
    for (let batch = 0; batch < 20; batch++) {
      for (let task = 0; task < 20; task++) for (let call = 0; call < 20; call++) add(42, batch, task, 0, 0, call)
    }
    add(42, '1', 1)
    add(42, 1, 1)
    add(42, 11)
    add(42, 'a', 'b')
    add(42, 'ab')
    add(43, 1, 1)
  })

  it('spreads: neighbors share about half of their bits', () => {
    let bits = 0
    for (let i = 0; i < 500; i++) {
      const different = BigInt(deriveSeed(1, i)) ^ BigInt(deriveSeed(1, i + 1))
      bits += different.toString(2).replaceAll('0', '').length
    }
    expect(bits / 500 / 52).toBeGreaterThan(0.45)
    expect(bits / 500 / 52).toBeLessThan(0.55)
  })
})
