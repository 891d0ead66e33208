import type { Grammar, Part } from '../grammar.js'
import { ANY, inJson, plainly, without } from '../regular/characters.js'
import { EMPTY, type Expression, type Expressions } from '../regular/expression.js'

/** `flexible`: see `whitespace`. `compact`: none at all. */
export type Whitespace = 'flexible' | 'compact'

/** Blanks that indent a line. Deeper nesting goes on without more of them. */
const MOST_INDENT = 64
/** Digits of a number before and behind the point, and of its exponent: what any reader can hold. */
export const MOST_DIGITS = 20
const EXPONENT_DIGITS = 2

/** The pieces that JSON is written with. */
export class JsonText {
  readonly grammar: Grammar
  readonly #all: Expressions
  readonly #space: Expression
  #string: Expression | undefined
  #value: Part | undefined
  #object: Part | undefined

  constructor(grammar: Grammar, policy: Whitespace = 'flexible') {
    this.grammar = grammar
    this.#all = grammar.regular
    this.#space = policy === 'compact' ? EMPTY : this.#whitespace()
  }

  get all(): Expressions {
    return this.#all
  }

  /** `mark` with the whitespace that may stand around it. */
  mark(mark: string, before: boolean, after: boolean): Expression {
    return this.#all.seq(before ? this.#space : EMPTY, this.#all.text(mark), after ? this.#space : EMPTY)
  }

  /** The beginning of a property: its name and the colon. */
  name(name: Expression): Expression {
    return this.#all.seq(name, this.mark(':', false, true))
  }

  /** Any string, in any spelling. */
  get string(): Expression {
    this.#string ??= this.quoted(this.#all.repeat(this.character(), 0))
    return this.#string
  }

  quoted(inner: Expression): Expression {
    const quote = this.#all.byte(0x22)
    return this.#all.seq(quote, inner, quote)
  }

  /** Strings of so many characters, in any spelling. */
  stringOf(min: number, max: number): Expression {
    return this.quoted(this.#all.repeat(this.character(), min, max))
  }

  /** One character of a string: as it is, or escaped in any way. Halves of a surrogate pair come together. */
  character(): Expression {
    const all = this.#all
    const hex = all.bytes([0x30, 0x39, 0x41, 0x46, 0x61, 0x66])
    const d = all.bytes([0x44, 0x44, 0x64, 0x64])
    const u = all.text('\\u')
    const alone = all.alt(
      all.seq(all.bytes([0x30, 0x39, 0x41, 0x43, 0x45, 0x46, 0x61, 0x63, 0x65, 0x66]), hex, hex, hex),
      all.seq(d, all.bytes([0x30, 0x37]), hex, hex),
    )
    const high = all.seq(d, all.bytes([0x38, 0x39, 0x41, 0x42, 0x61, 0x62]), hex, hex)
    const low = all.seq(d, all.bytes([0x43, 0x46, 0x63, 0x66]), hex, hex)
    return all.alt(
      plainly(all, without(ANY, [0, 0x1f, 0x22, 0x22, 0x5c, 0x5c])),
      all.oneOf(['\\"', '\\\\', '\\/', '\\b', '\\f', '\\n', '\\r', '\\t']),
      all.seq(u, all.alt(alone, all.seq(high, u, low))),
    )
  }

  /** Strings in one spelling each, so that some of them can be left out. */
  spelled(inner: Expression = this.#all.repeat(inJson(this.#all, ANY), 0)): Expression {
    return this.quoted(inner)
  }

  get integer(): Expression {
    const all = this.#all
    const digits = all.repeat(all.bytes([0x30, 0x39]), 0, MOST_DIGITS - 1)
    return all.alt(all.byte(0x30), all.seq(all.bytes([0x31, 0x39]), digits))
  }

  /** A point and what follows it. */
  fraction(most = MOST_DIGITS): Expression {
    return this.#all.seq(this.#all.byte(0x2e), this.#all.repeat(this.#all.bytes([0x30, 0x39]), 1, most))
  }

  signed(number: Expression): Expression {
    return this.#all.seq(this.#all.optional(this.#all.byte(0x2d)), number)
  }

  get number(): Expression {
    const all = this.#all
    const sign = all.optional(all.bytes([0x2b, 0x2b, 0x2d, 0x2d]))
    const exponent = all.seq(
      all.bytes([0x45, 0x45, 0x65, 0x65]),
      sign,
      all.repeat(all.bytes([0x30, 0x39]), 1, EXPONENT_DIGITS),
    )
    return this.signed(all.seq(this.integer, all.optional(this.fraction()), all.optional(exponent)))
  }

  /** Any value. */
  get value(): Part {
    if (this.#value !== undefined) return this.#value
    const { grammar } = this
    this.#value = grammar.rule()
    const scalar = grammar.terminal(this.#all.alt(this.string, this.number, this.#all.oneOf(['true', 'false', 'null'])))
    const comma = grammar.terminal(this.mark(',', true, true))
    const items = grammar.seq(this.#value, grammar.repeat(grammar.seq(comma, this.#value), 0))
    grammar.define(this.#value, grammar.alt(scalar, this.object, this.within('[', ']', items, true)))
    return this.#value
  }

  /** Any object. */
  get object(): Part {
    if (this.#object !== undefined) return this.#object
    const { grammar } = this
    this.#object = grammar.rule()
    const member = grammar.seq(grammar.terminal(this.name(this.string)), this.value)
    const comma = grammar.terminal(this.mark(',', true, true))
    const members = grammar.seq(member, grammar.repeat(grammar.seq(comma, member), 0))
    grammar.define(this.#object, this.within('{', '}', members, true))
    return this.#object
  }

  /** Something between brackets; `orNothing`: which may be empty. */
  within(open: string, close: string, inner: Part, orNothing: boolean): Part {
    const { grammar } = this
    return grammar.seq(
      grammar.terminal(this.mark(open, false, true)),
      grammar.alt(
        grammar.seq(inner, grammar.terminal(this.mark(close, true, false))),
        ...(orNothing ? [grammar.text(close)] : []),
      ),
    )
  }

  /** A value as it stands. */
  constant(value: unknown): Part {
    const { grammar } = this
    if (typeof value !== 'object' || value === null) return grammar.text(JSON.stringify(value))
    const comma = grammar.terminal(this.mark(',', true, true))
    const list = Array.isArray(value)
      ? value.map((one) => this.constant(one))
      : Object.entries(value).map(([name, one]) =>
          grammar.seq(grammar.terminal(this.name(this.#all.text(JSON.stringify(name)))), this.constant(one)),
        )
    const [open, close] = Array.isArray(value) ? '[]' : '{}'
    if (list.length === 0) return grammar.seq(grammar.terminal(this.mark(open, false, true)), grammar.text(close))
    return this.within(open, close, grammar.seq(...list.flatMap((one, i) => (i > 0 ? [comma, one] : [one]))), false)
  }

  /** At most one blank, or one new line with its indentation: endless whitespace is how models get lost. */
  #whitespace(): Expression {
    const all = this.#all
    const indent = all.alt(all.repeat(all.byte(0x20), 0, MOST_INDENT), all.repeat(all.byte(0x09), 1, MOST_INDENT / 4))
    return all.alt(EMPTY, all.byte(0x20), all.seq(all.byte(0x0a), indent))
  }

  get whitespace(): Expression {
    return this.#space
  }
}
