/** MT19937 as torch's CPU generator uses it, for test inputs that others can reproduce: `torch.manual_seed(seed)`. */
export class Mt19937 {
  readonly #state = new Uint32Array(624)
  #index = 624

  constructor(seed: number) {
    this.#state[0] = seed
    for (let i = 1; i < 624; i++) {
      const before = this.#state[i - 1] ^ (this.#state[i - 1] >>> 30)
      this.#state[i] = Math.imul(1812433253, before) + i
    }
  }

  /** Uniform in [0, 1), with 24 bits. */
  next(): number {
    return (this.#bits() & 0xffffff) / 2 ** 24
  }

  #bits(): number {
    const s = this.#state
    if (this.#index === 624) {
      for (let i = 0; i < 624; i++) {
        const y = (s[i] & 0x80000000) | (s[(i + 1) % 624] & 0x7fffffff)
        s[i] = s[(i + 397) % 624] ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0)
      }
      this.#index = 0
    }
    let y = s[this.#index++]
    y ^= y >>> 11
    y ^= (y << 7) & 0x9d2c5680
    y ^= (y << 15) & 0xefc60000
    return (y ^ (y >>> 18)) >>> 0
  }

  /** `torch.rand(n)` in float32. */
  rand(n: number): Float32Array {
    return Float32Array.from({ length: n }, () => this.next())
  }
}
