import type { Tokenizer } from '../../../model/tokenizer.js'

/**
 * Looks for stop strings in a text that arrives in pieces, also across their borders. Special tokens are no text: a string
 * is not found inside their names. One that is the whole name of a special token means this token.
 */
export class StopStrings {
  readonly #stops: readonly string[]
  readonly #stream: ReturnType<Tokenizer['stream']>
  readonly #special: ReadonlyMap<number, string>
  readonly #longest: number
  #tail = ''

  constructor(stops: readonly string[], tokenizer: Pick<Tokenizer, 'stream' | 'tokenId' | 'isSpecial'>) {
    this.#stops = stops
    this.#stream = tokenizer.stream({ skipSpecial: true })
    this.#longest = Math.max(...stops.map((stop) => stop.length))
    const special = new Map<number, string>()
    for (const stop of stops) {
      const id = tokenizer.tokenId(stop)
      if (id !== undefined && tokenizer.isSpecial(id)) special.set(id, stop)
    }
    this.#special = special
  }

  /** The stop string that this token completes; of several, the one that begins first. */
  push(token: number): string | undefined {
    const named = this.#special.get(token)
    if (named !== undefined) return named
    const piece = this.#stream.push(token)
    if (piece === '') return undefined
    const text = this.#tail + piece
    let found: string | undefined
    let first = Infinity
    for (const stop of this.#stops) {
      const at = text.indexOf(stop)
      if (at >= 0 && at < first) {
        first = at
        found = stop
      }
    }
    this.#tail = text.slice(Math.max(0, text.length - this.#longest + 1))
    return found
  }
}
