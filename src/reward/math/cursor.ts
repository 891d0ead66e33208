import type { Token } from './token.js'

/** Thrown inside the parser only: the text is not mathematics that we read. */
export class NotMath extends Error {}

const MAX_DEPTH = 60

/** A place in a list of tokens. */
export class Cursor {
  at = 0
  /** How many |…| are open: there a bar closes. */
  bars = 0
  #depth = 0

  constructor(readonly tokens: Token[]) {}

  get next(): Token | undefined {
    return this.tokens[this.at]
  }

  ahead(offset: number): Token | undefined {
    return this.tokens[this.at + offset]
  }

  isOp(text: string, offset = 0): boolean {
    const token = this.tokens[this.at + offset]
    return token !== undefined && token.kind === 'op' && token.text === text
  }

  isCommand(text: string, offset = 0): boolean {
    const token = this.tokens[this.at + offset]
    return token !== undefined && token.kind === 'command' && token.text === text
  }

  accept(op: string): boolean {
    if (!this.isOp(op)) return false
    this.at++
    return true
  }

  expect(op: string): void {
    if (!this.accept(op)) this.fail()
  }

  take(): Token {
    const token = this.tokens[this.at]
    if (token === undefined) this.fail()
    this.at++
    return token
  }

  fail(): never {
    throw new NotMath()
  }

  /** Bounds the recursion: a thousand opening braces are not mathematics. */
  nested<T>(parse: () => T): T {
    if (++this.#depth > MAX_DEPTH) this.fail()
    const value = parse()
    this.#depth--
    return value
  }
}
