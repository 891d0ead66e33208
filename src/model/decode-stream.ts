import type { Tokenizer } from './tokenizer.js'

/**
 * Text of tokens that arrive one by one. Bytes of an unfinished character are kept back, so that a chunk never holds a
 * broken one; the chunks and `end()` together are exactly what decoding everything at once gives.
 */
export class DecodeStream {
  readonly #tokenizer: Tokenizer
  readonly #skipSpecial: boolean
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  /** Bytes that stand for themselves, until another token comes. */
  #run: number[] = []
  #toStrip: number
  #begun = false

  constructor(tokenizer: Tokenizer, options: { skipSpecial?: boolean } = {}) {
    this.#tokenizer = tokenizer
    this.#skipSpecial = options.skipSpecial ?? true
    this.#toStrip = tokenizer.strip?.count ?? 0
  }

  /** Text that is complete with this token; often empty. */
  push(id: number): string {
    if (this.#skipSpecial && this.#tokenizer.isSpecial(id)) return ''
    const bytes = this.#tokenizer.tokenBytes(id)
    if (this.#tokenizer.isByte(id)) {
      this.#run.push(...bytes)
      return ''
    }
    const before = this.#begun && bytes.length > 0 ? this.#tokenizer.between : ''
    this.#begun ||= bytes.length > 0
    return this.#endRun() + before + this.#decode(bytes)
  }

  #decode(bytes: Uint8Array): string {
    return this.#decoder.decode(this.#strip(bytes), { stream: true })
  }

  /** A run that is no text is a replacement character for every byte of it, as in the original. */
  #endRun(): string {
    if (this.#run.length === 0) return ''
    const bytes = Uint8Array.from(this.#run.splice(0))
    try {
      new TextDecoder('utf-8', { fatal: true }).decode(bytes)
      return this.#decode(bytes)
    } catch {
      return this.#decode(new TextEncoder().encode('\uFFFD'.repeat(bytes.length)))
    }
  }

  /** What is left: replacement characters where the last character stayed unfinished. */
  end(): string {
    return this.#endRun() + this.#decoder.decode()
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
