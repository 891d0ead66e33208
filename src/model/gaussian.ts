import { createHash } from 'node:crypto'

/**
 * Normally distributed numbers for initial weights. One stream per (seed, name), so that a tensor's values depend on
 * nothing but its name; a generator on 32-bit integers (sfc32), because models have millions of weights.
 */
export class Gaussian {
  #a: number
  #b: number
  #c: number
  #counter: number
  #spare: number | undefined

  constructor(seed: number, name: string) {
    const words = createHash('sha256').update(`${seed}\0${name}`).digest()
    this.#a = words.readInt32LE(0)
    this.#b = words.readInt32LE(4)
    this.#c = words.readInt32LE(8)
    this.#counter = 1
    for (let i = 0; i < 12; i++) this.#uniform()
  }

  /** Mean 0, variance 1 (Box and Muller's polar form gives two at a time). */
  next(): number {
    if (this.#spare !== undefined) {
      const spare = this.#spare
      this.#spare = undefined
      return spare
    }
    let x: number
    let y: number
    let square: number
    do {
      x = 2 * this.#uniform() - 1
      y = 2 * this.#uniform() - 1
      square = x * x + y * y
    } while (square >= 1 || square === 0)
    const scale = Math.sqrt((-2 * Math.log(square)) / square)
    this.#spare = y * scale
    return x * scale
  }

  #uniform(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0
    return (sum >>> 0) / 2 ** 32
  }
}
