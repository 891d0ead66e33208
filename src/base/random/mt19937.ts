/** Mersenne Twister. Seeded with a number: `numpy.random.seed(s)`, `torch.manual_seed(s)`. With a list of 32-bit words: `init_by_array`. */
export class Mt19937 {
  readonly #state = new Uint32Array(624)
  #at = 624

  constructor(seed: number | readonly number[]) {
    const state = this.#state
    state[0] = typeof seed === 'number' ? seed >>> 0 : 19650218
    for (let i = 1; i < 624; i++) state[i] = (Math.imul(1812433253, mixed(state[i - 1])) + i) >>> 0
    if (typeof seed !== 'number') this.#stir(seed)
  }

  uint32(): number {
    if (this.#at === 624) this.#refill()
    let x = this.#state[this.#at++]
    x ^= x >>> 11
    x ^= (x << 7) & 0x9d2c5680
    x ^= (x << 15) & 0xefc60000
    return (x ^ (x >>> 18)) >>> 0
  }

  /** In [0, 1), with 53 bits. */
  random(): number {
    const high = this.uint32() >>> 5
    return (high * 2 ** 26 + (this.uint32() >>> 6)) / 2 ** 53
  }

  /** Uniform in 0 … max, both included, by masking and rejection: what `numpy.random.choice` with replacement draws. */
  below(max: number): number {
    if (max === 0) return 0
    const mask = 0xffffffff >>> Math.clz32(max)
    let value: number
    do value = (this.uint32() & mask) >>> 0
    while (value > max)
    return value
  }

  /** The second half of `init_by_array`: every word of the key reaches all of the state. */
  #stir(key: readonly number[]): void {
    const state = this.#state
    let i = 1
    const next = () => {
      if (++i < 624) return
      state[0] = state[623]
      i = 1
    }
    for (let k = 0; k < Math.max(624, key.length); k++) {
      const j = k % key.length
      state[i] = (state[i] ^ Math.imul(1664525, mixed(state[i - 1]))) + key[j] + j
      next()
    }
    for (let k = 0; k < 623; k++) {
      state[i] = (state[i] ^ Math.imul(1566083941, mixed(state[i - 1]))) - i
      next()
    }
    state[0] = 0x80000000
  }

  #refill(): void {
    const state = this.#state
    for (let i = 0; i < 624; i++) {
      const y = (state[i] & 0x80000000) | (state[(i + 1) % 624] & 0x7fffffff)
      state[i] = state[(i + 397) % 624] ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0)
    }
    this.#at = 0
  }
}

function mixed(word: number): number {
  return word ^ (word >>> 30)
}
