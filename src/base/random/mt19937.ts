/** Mersenne Twister with the classic seeding: the numbers of `numpy.random.seed(s)` and `torch.manual_seed(s)`. */
export class Mt19937 {
  readonly #state = new Uint32Array(624)
  #at = 624

  constructor(seed: number) {
    this.#state[0] = seed >>> 0
    for (let i = 1; i < 624; i++) {
      const before = this.#state[i - 1] ^ (this.#state[i - 1] >>> 30)
      this.#state[i] = (Math.imul(1812433253, before) + i) >>> 0
    }
  }

  uint32(): number {
    if (this.#at === 624) this.#refill()
    let x = this.#state[this.#at++]
    x ^= x >>> 11
    x ^= (x << 7) & 0x9d2c5680
    x ^= (x << 15) & 0xefc60000
    return (x ^ (x >>> 18)) >>> 0
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

  #refill(): void {
    const state = this.#state
    for (let i = 0; i < 624; i++) {
      const y = (state[i] & 0x80000000) | (state[(i + 1) % 624] & 0x7fffffff)
      state[i] = state[(i + 397) % 624] ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0)
    }
    this.#at = 0
  }
}
