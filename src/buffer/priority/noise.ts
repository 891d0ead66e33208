import { Pcg64 } from '../../base/random/index.js'

/** Standard normal numbers whose whole state is a counter, so that a cut can keep it. */
export class Noise {
  readonly #seed: number
  drawn: number

  constructor(seed: number, drawn = 0) {
    this.#seed = seed
    this.drawn = drawn
  }

  readonly next = (): number => {
    const stream = new Pcg64((BigInt(this.#seed) << 64n) | BigInt(this.drawn++))
    // Box–Muller; 1 − u keeps the logarithm finite.
    return Math.sqrt(-2 * Math.log(1 - stream.random())) * Math.cos(2 * Math.PI * stream.random())
  }
}
