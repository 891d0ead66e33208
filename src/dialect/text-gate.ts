/**
 * Passes on text that surely comes before every one of some marks (a tool call, a stop string), for streams: text is held
 * back from the first mark on, or while its end could be the beginning of one.
 */
export class TextGate {
  readonly #marks: readonly string[]
  #held = ''
  #shut = false

  constructor(marks: readonly string[]) {
    this.#marks = marks.filter((mark) => mark !== '')
  }

  push(text: string): string {
    this.#held += text
    if (this.#shut) return ''
    const places = this.#marks.map((mark) => this.#held.indexOf(mark)).filter((at) => at >= 0)
    if (places.length > 0) {
      this.#shut = true
      return this.#release(Math.min(...places))
    }
    const longest = Math.max(0, ...this.#marks.map(({ length }) => length - 1))
    let keep = Math.min(longest, this.#held.length)
    while (keep > 0 && !this.#begins(this.#held.slice(-keep))) keep--
    return this.#release(this.#held.length - keep)
  }

  /** Holds everything back from now on. */
  shut(): void {
    this.#shut = true
  }

  /** What was held back. */
  end(): string {
    return this.#release(this.#held.length)
  }

  #begins(tail: string): boolean {
    return this.#marks.some((mark) => mark.startsWith(tail))
  }

  #release(count: number): string {
    const text = this.#held.slice(0, count)
    this.#held = this.#held.slice(count)
    return text
  }
}
