import { EMPTY, type Expression, type Expressions, NEVER } from './expression.js'

/** What may follow once a byte was read (Brzozowski's derivatives), and which bytes make no difference to each other. */
export class Derivatives {
  readonly #all: Expressions
  readonly #cuts = new Map<Expression, readonly number[]>()

  constructor(all: Expressions) {
    this.#all = all
  }

  of(expression: Expression, byte: number): Expression {
    const all = this.#all
    const form = all.form(expression)
    switch (form.kind) {
      case 'never':
      case 'empty':
        return NEVER
      case 'bytes': {
        for (let i = 0; i < form.ranges.length; i += 2) {
          if (byte >= form.ranges[i] && byte <= form.ranges[i + 1]) return EMPTY
        }
        return NEVER
      }
      case 'seq': {
        const here = all.pair(this.of(form.first, byte), form.rest)
        return all.nullable(form.first) ? all.alt(here, this.of(form.rest, byte)) : here
      }
      case 'alt':
        return all.alt(...form.parts.map((part) => this.of(part, byte)))
      case 'and':
        return all.and(...form.parts.map((part) => this.of(part, byte)))
      case 'not':
        return all.not(this.of(form.part, byte))
      case 'repeat': {
        const { part, min, max } = form
        return all.pair(this.of(part, byte), all.repeat(part, Math.max(0, min - 1), max - 1))
      }
      case 'multiple': {
        const digit = byte - 0x30
        if (digit < 0 || digit > 9) return NEVER
        return all.multiple(form.divisor, (form.rest * 10 + digit) % form.divisor)
      }
    }
  }

  /** Bytes at which something changes, in order, 0 first: between two of them all bytes lead to the same. */
  cuts(expression: Expression): readonly number[] {
    const known = this.#cuts.get(expression)
    if (known) return known
    const cuts = [...new Set([0, ...this.#changes(expression)])].sort((a, b) => a - b)
    this.#cuts.set(expression, cuts)
    return cuts
  }

  #changes(expression: Expression): number[] {
    const form = this.#all.form(expression)
    switch (form.kind) {
      case 'never':
      case 'empty':
        return []
      case 'bytes':
        return form.ranges.map((edge, i) => edge + (i % 2)).filter((edge) => edge < 256)
      case 'seq': {
        const first = this.cuts(form.first)
        return this.#all.nullable(form.first) ? [...first, ...this.cuts(form.rest)] : [...first]
      }
      case 'alt':
      case 'and':
        return form.parts.flatMap((part) => this.cuts(part))
      case 'not':
      case 'repeat':
        return [...this.cuts(form.part)]
      case 'multiple':
        return Array.from({ length: 11 }, (_, digit) => 0x30 + digit)
    }
  }
}
