import type { DecodeStream } from '../../../model/decode-stream.js'

/** Looks for stop strings in a text that arrives in pieces, also across their borders. */
export class StopStrings {
  readonly #stops: readonly string[]
  readonly #stream: DecodeStream
  readonly #longest: number
  #tail = ''

  constructor(stops: readonly string[], stream: DecodeStream) {
    this.#stops = stops
    this.#stream = stream
    this.#longest = Math.max(...stops.map((stop) => stop.length))
  }

  /** The stop string that this token completes; of several, the one that begins first. */
  push(token: number): string | undefined {
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
