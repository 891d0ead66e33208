/** Keeps what was used last, within a budget of whatever `size` counts. */
export class Recent<K, V> {
  readonly #held = new Map<K, V>()
  readonly #budget: number
  readonly #size: (value: V) => number
  #used = 0

  constructor(budget: number, size: (value: V) => number = () => 1) {
    this.#budget = budget
    this.#size = size
  }

  get(key: K, make: () => V): V {
    const held = this.#held.get(key)
    if (held !== undefined) {
      this.#held.delete(key)
      this.#held.set(key, held)
      return held
    }
    const value = make()
    this.#held.set(key, value)
    this.#used += this.#size(value)
    for (const [oldest, old] of this.#held) {
      if (this.#used <= this.#budget || oldest === key) break
      this.#held.delete(oldest)
      this.#used -= this.#size(old)
    }
    return value
  }
}
