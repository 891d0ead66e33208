import type { Tokenizer } from './tokenizer.js'

/**
 * Text of tokens that arrive one by one. Bytes of an unfinished character are kept back, so that a chunk never holds a
 * broken one; the chunks and `end()` together are exactly what decoding everything at once gives.
 */
export class DecodeStream {
  readonly #tokenizer: Tokenizer
  readonly #skipSpecial: boolean
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  #toStrip: number

  constructor(tokenizer: Tokenizer, options: { skipSpecial?: boolean } = {}) {
    this.#tokenizer = tokenizer
    this.#skipSpecial = options.skipSpecial ?? true
    this.#toStrip = tokenizer.strip?.count ?? 0
  }

  /** Text that is complete with this token; often empty. */
  push(id: number): string {
    if (this.#skipSpecial && this.#tokenizer.isSpecial(id)) return ''
    return this.#decoder.decode(this.#strip(this.#tokenizer.tokenBytes(id)), { stream: true })
  }

  /** What is left: replacement characters where the last character stayed unfinished. */
  end(): string {
    return this.#decoder.decode()
  }

  #strip(bytes: Uint8Array): Uint8Array {
    if (this.#toStrip === 0 || bytes.length === 0) return bytes
    let at = 0
    while (at < bytes.length && this.#toStrip > 0 && bytes[at] === this.#tokenizer.strip?.content) {
      at++
      this.#toStrip--
    }
    if (at < bytes.length) this.#toStrip = 0
    return bytes.subarray(at)
  }
}
