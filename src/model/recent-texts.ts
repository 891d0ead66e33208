/** Shorter texts are encoded faster than they are looked up and copied. */
const LEAST_CHARACTERS = 64
/** Of all texts that are kept. */
const MOST_CHARACTERS = 1 << 20

/** Tokens of the texts that were encoded last: the runs of a task begin with the same prompt, and thousands begin at once. */
export class RecentTexts {
  readonly #tokens = new Map<string, Int32Array>()
  #characters = 0

  /** A copy, which is the caller's. */
  get(text: string): Int32Array | undefined {
    const tokens = this.#tokens.get(text)
    if (!tokens) return undefined
    // A map gives its keys in the order in which they came: this one is now the latest.
    this.#tokens.delete(text)
    this.#tokens.set(text, tokens)
    return tokens.slice()
  }

  add(text: string, tokens: Int32Array): void {
    if (text.length < LEAST_CHARACTERS || text.length > MOST_CHARACTERS / 2 || this.#tokens.has(text)) return
    this.#tokens.set(text, tokens.slice())
    this.#characters += text.length
    for (const oldest of this.#tokens.keys()) {
      if (this.#characters <= MOST_CHARACTERS) break
      this.#tokens.delete(oldest)
      this.#characters -= oldest.length
    }
  }
}
