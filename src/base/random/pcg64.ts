import { TrinityError } from '../error.js'
import { seedWords } from './seed-sequence.js'

const MULTIPLIER = (2549297995355413924n << 64n) | 4865540595714422341n
const MASK64 = (1n << 64n) - 1n

/**
 * PCG64 (XSL-RR 128/64) with NumPy's seeding and NumPy's ways of drawing from it: `new Pcg64(s)` gives exactly the
 * numbers of `numpy.random.default_rng(s)`, so an order published for a seed comes out here too.
 */
export class Pcg64 {
  #state: bigint
  #increment: bigint
  /** The upper half of a 64-bit draw, kept for the next 32-bit one. */
  #spare: number | undefined

  constructor(seed: number | bigint) {
    if (typeof seed === 'number' ? !Number.isSafeInteger(seed) || seed < 0 : seed < 0n) {
      throw new TrinityError('random/seed', `a seed is a non-negative integer, not ${seed}`)
    }
    const words = seedWords(BigInt(seed), 8)
    const u64 = (i: number) => (BigInt(words[2 * i + 1]) << 32n) | BigInt(words[2 * i])
    this.#increment = BigInt.asUintN(128, (((u64(2) << 64n) | u64(3)) << 1n) | 1n)
    this.#state = this.#increment
    this.#state = BigInt.asUintN(128, this.#state + ((u64(0) << 64n) | u64(1)))
    this.#step()
  }

  /** Another generator that draws the same numbers from here on. */
  copy(): Pcg64 {
    const copy = new Pcg64(0)
    copy.#state = this.#state
    copy.#increment = this.#increment
    copy.#spare = this.#spare
    return copy
  }

  #step(): bigint {
    this.#state = BigInt.asUintN(128, this.#state * MULTIPLIER + this.#increment)
    return this.#state
  }

  uint64(): bigint {
    const state = this.#step()
    const high = state >> 64n
    const folded = high ^ (state & MASK64)
    const turn = high >> 58n
    return BigInt.asUintN(64, (folded >> turn) | (folded << (64n - turn)))
  }

  uint32(): number {
    if (this.#spare !== undefined) {
      const spare = this.#spare
      this.#spare = undefined
      return spare
    }
    const value = this.uint64()
    this.#spare = Number(value >> 32n)
    return Number(value & 0xffffffffn)
  }

  /** Uniform in [0, 1) with 53 bits. */
  random(): number {
    return Number(this.uint64() >> 11n) / 2 ** 53
  }

  /** Uniform in 0 … max, both included (Lemire's multiplication method). */
  below(max: number): number {
    if (max === 0) return 0
    if (max > 0xffffffff) throw new TrinityError('random/range', `cannot draw below ${max}: the limit is 2^32 - 1`)
    if (max === 0xffffffff) return this.uint32()
    const range = max + 1
    let [high, low] = multiply(this.uint32(), range)
    if (low < range) {
      const threshold = (0xffffffff - max) % range
      while (low < threshold) [high, low] = multiply(this.uint32(), range)
    }
    return high
  }

  /** Uniform in 0 … max, both included, by masking and rejection: what NumPy's `shuffle` uses, unlike its `choice`. */
  #interval(max: number): number {
    const mask = 0xffffffff >>> Math.clz32(max)
    let value: number
    do value = (this.uint32() & mask) >>> 0
    while (value > max)
    return value
  }

  /** `default_rng(s).shuffle(items)`, in place. */
  shuffle<T>(items: T[] | Int32Array): void {
    const list = items as T[]
    for (let i = list.length - 1; i > 0; i--) {
      const j = this.#interval(i)
      const kept = list[i]
      list[i] = list[j]
      list[j] = kept
    }
  }

  /** `default_rng(s).permutation(size)`. */
  permutation(size: number): Int32Array {
    const order = Int32Array.from({ length: size }, (_, i) => i)
    this.shuffle(order)
    return order
  }

  /** `default_rng(s).choice(size, count, replace=False)`. */
  choice(size: number, count: number): Int32Array {
    if (count > size) throw new TrinityError('random/choice', `cannot choose ${count} of ${size} without replacement`)
    if (size > 10000 && count > Math.floor(size / 50)) {
      const order = Int32Array.from({ length: size }, (_, i) => i)
      this.#shuffleFrom(order, Math.max(size - count, 1))
      return order.slice(size - count)
    }
    const chosen = new Int32Array(count)
    const seen = new Set<number>()
    for (let j = size - count; j < size; j++) {
      const drawn = this.below(j)
      const value = seen.has(drawn) ? j : drawn
      seen.add(value)
      chosen[j - size + count] = value
    }
    this.#shuffleFrom(chosen, 1)
    return chosen
  }

  #shuffleFrom(order: Int32Array, first: number): void {
    for (let i = order.length - 1; i >= first; i--) {
      const j = this.below(i)
      const kept = order[i]
      order[i] = order[j]
      order[j] = kept
    }
  }
}

/** The two 32-bit halves of a × b (b may be 2^32). */
function multiply(a: number, b: number): [high: number, low: number] {
  const aHigh = Math.floor(a / 65536)
  const aLow = a & 0xffff
  const upper = aHigh * b
  const lower = (upper % 65536) * 65536 + aLow * b
  const high = Math.floor(upper / 65536) + Math.floor(lower / 2 ** 32)
  return [high, lower % 2 ** 32]
}
