import { Mt19937 } from './mt19937.js'

/** Python's `random.Random(seed)` for whole seeds ≥ 0: the same numbers, choices, samples and orders. */
export class PythonRandom {
  readonly #twister: Mt19937

  constructor(seed: number) {
    const high = Math.floor(seed / 2 ** 32)
    this.#twister = new Mt19937(high === 0 ? [seed] : [seed % 2 ** 32, high])
  }

  /** In [0, 1), with 53 bits. */
  random(): number {
    return this.#twister.random()
  }

  uniform(low: number, high: number): number {
    return low + (high - low) * this.random()
  }

  /** `randrange(count)`: from 0 to count − 1, for counts up to 2³². */
  below(count: number): number {
    // Python draws as many bits as `count` itself has, not as the largest number needs.
    const unused = count === 2 ** 32 ? 0 : Math.clz32(count)
    let value: number
    do value = this.#twister.uint32() >>> unused
    while (value >= count)
    return value
  }

  choice<T>(from: ArrayLike<T>): T {
    return from[this.below(from.length)]
  }

  /** `shuffle`, in place. */
  shuffle<T>(list: { readonly length: number; [index: number]: T }): void {
    for (let i = list.length - 1; i > 0; i--) {
      const j = this.below(i + 1)
      const moved = list[i]
      list[i] = list[j]
      list[j] = moved
    }
  }

  /** `sample(from, count)`: different places, in the order drawn. */
  sample<T>(from: ArrayLike<T>, count: number): T[] {
    // Where a set of the drawn is smaller than a copy of all, Python keeps the set; both draw other numbers.
    const limit = 21 + (count > 5 ? 4 ** Math.ceil(Math.log(count * 3) / Math.log(4)) : 0)
    if (from.length > limit) {
      const drawn = new Set<number>()
      while (drawn.size < count) drawn.add(this.below(from.length))
      return Array.from(drawn, (place) => from[place])
    }
    const pool = Array.from(from)
    return Array.from({ length: count }, (_, i) => {
      const place = this.below(pool.length - i)
      const value = pool[place]
      pool[place] = pool[pool.length - i - 1]
      return value
    })
  }
}
