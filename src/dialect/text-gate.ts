/**
 * Passes on text that surely comes before every one of some marks (stop strings), for streams: text is held back from the
 * first mark on, or while its end could be the beginning of one.
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
    this.#shut = places.length > 0
    return this.#release(this.#shut ? Math.min(...places) : this.#held.length - heldBack(this.#held, this.#marks))
  }

  /** What was held back. */
  end(): string {
    return this.#release(this.#held.length)
  }

  #release(count: number): string {
    const text = this.#held.slice(0, count)
    this.#held = this.#held.slice(count)
    return text
  }
}

/** How many characters at the end of a text could be the beginning of a mark. */
export function heldBack(text: string, marks: readonly string[]): number {
  const longest = Math.max(0, ...marks.map(({ length }) => length - 1))
  let count = Math.min(longest, text.length)
  while (count > 0 && !marks.some((mark) => mark.startsWith(text.slice(-count)))) count--
  return count
}
