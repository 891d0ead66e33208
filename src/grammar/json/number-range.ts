import { EMPTY, type Expression, type Expressions } from '../regular/expression.js'
import type { JsonText } from './text.js'
import { MOST_DIGITS } from './text.js'

/** Bounds of a number; `Over`, `Under`: the bound itself is left out. */
export interface NumberBounds {
  readonly min?: number
  readonly minOpen?: boolean
  readonly max?: number
  readonly maxOpen?: boolean
}

/**
 * Numbers between two bounds, written without an exponent. `decimals`: digits behind the point, 0 for whole numbers.
 * Undefined where a bound cannot be written out with that many digits.
 */
export function numberBetween(text: JsonText, bounds: NumberBounds, decimals: number): Expression | undefined {
  const { all } = text
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY, minOpen = false, maxOpen = false } = bounds
  const digits = [min, max].map((bound) => (Number.isFinite(bound) ? plainDigits(Math.abs(bound)) : undefined))
  if ([min, max].some((bound, i) => Number.isFinite(bound) && digits[i] === undefined)) return undefined
  const [low, high] = digits
  const shape = all.seq(text.integer, decimals > 0 ? all.optional(text.fraction(decimals)) : EMPTY)
  const compare = new Comparison(all)

  const above: Expression[] = []
  if (max > 0 || (max === 0 && !maxOpen)) {
    const parts = [shape]
    if (min > 0 || (min === 0 && minOpen)) parts.push(compare.atLeast(low!, minOpen))
    if (high) parts.push(compare.atMost(high, maxOpen))
    above.push(all.and(...parts))
  }
  if (min < 0) {
    const parts = [shape, compare.atLeast(max < 0 ? high! : ZERO, max < 0 ? maxOpen : true)]
    if (low) parts.push(compare.atMost(low, minOpen))
    above.push(all.seq(all.byte(0x2d), all.and(...parts)))
  }
  return all.alt(...above)
}

interface Digits {
  readonly whole: string
  readonly fraction: string
}

const ZERO: Digits = { whole: '0', fraction: '' }

/** A number that is not negative, without its exponent. */
function plainDigits(value: number): Digits | undefined {
  const [, whole, fraction = '', exponent = '0'] = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value))!
  const shift = Number(exponent)
  const all = whole + fraction
  const point = whole.length + shift
  const shifted =
    point <= 0
      ? { whole: '0', fraction: '0'.repeat(-point) + all }
      : { whole: all.slice(0, point).padEnd(point, '0'), fraction: all.slice(point) }
  const trimmed = { whole: shifted.whole.replace(/^0+(?=\d)/, ''), fraction: shifted.fraction.replace(/0+$/, '') }
  return trimmed.whole.length > MOST_DIGITS || trimmed.fraction.length > MOST_DIGITS ? undefined : trimmed
}

/** Texts of digits that are more, or less, than a number. They need not be well-formed: another expression sees to that. */
class Comparison {
  readonly #all: Expressions
  readonly #digit: Expression
  readonly #digits: Expression

  constructor(all: Expressions) {
    this.#all = all
    this.#digit = all.bytes([0x30, 0x39])
    this.#digits = all.repeat(this.#digit, 0)
  }

  atLeast({ whole, fraction }: Digits, open: boolean): Expression {
    const all = this.#all
    const anyFraction = all.optional(all.seq(all.byte(0x2e), this.#digits))
    const longer = all.repeat(this.#digit, whole.length + 1)
    return all.alt(
      all.seq(all.alt(longer, this.#beyond(whole, true)), anyFraction),
      all.seq(all.text(whole), this.#fractionAtLeast(fraction, open)),
    )
  }

  atMost({ whole, fraction }: Digits, open: boolean): Expression {
    const all = this.#all
    const anyFraction = all.optional(all.seq(all.byte(0x2e), this.#digits))
    const shorter = whole.length > 1 ? all.repeat(this.#digit, 1, whole.length - 1) : 0
    return all.alt(
      all.seq(all.alt(shorter, this.#beyond(whole, false)), anyFraction),
      all.seq(all.text(whole), this.#fractionAtMost(fraction, open)),
    )
  }

  /** As many digits as `text`, and more (less) than it. */
  #beyond(text: string, more: boolean): Expression {
    const all = this.#all
    const options = Array.from(text, (digit, i) =>
      all.seq(
        all.text(text.slice(0, i)),
        this.#other(digit, more),
        all.repeat(this.#digit, text.length - i - 1, text.length - i - 1),
      ),
    )
    return all.alt(...options)
  }

  #other(digit: string, more: boolean): Expression {
    const byte = digit.charCodeAt(0)
    const [low, high] = more ? [byte + 1, 0x39] : [0x30, byte - 1]
    return low > high ? 0 : this.#all.bytes([low, high])
  }

  #fractionAtLeast(fraction: string, open: boolean): Expression {
    const all = this.#all
    const zeros = all.repeat(all.byte(0x30), 0)
    const something = all.seq(zeros, all.bytes([0x31, 0x39]), this.#digits)
    const same = open ? something : this.#digits
    const point = all.byte(0x2e)
    const greater = Array.from(fraction, (digit, i) =>
      all.seq(all.text(fraction.slice(0, i)), this.#other(digit, true), this.#digits),
    )
    const behind = all.seq(point, all.alt(...greater, all.seq(all.text(fraction), same)))
    return fraction === '' && !open ? all.optional(behind) : behind
  }

  #fractionAtMost(fraction: string, open: boolean): Expression {
    const all = this.#all
    const zeros = all.repeat(all.byte(0x30), 0)
    const point = all.byte(0x2e)
    const less = Array.from(fraction, (digit, i) =>
      all.seq(all.text(fraction.slice(0, i)), this.#other(digit, false), this.#digits),
    )
    // a beginning of the digits is less than they are, as they do not end with 0
    const begun = Array.from({ length: fraction.length }, (_, i) => all.text(fraction.slice(0, i)))
    const same = open ? [] : [all.seq(all.text(fraction), zeros)]
    const behind = all.seq(point, all.alt(...less, ...begun, ...same))
    return fraction !== '' || !open ? all.optional(behind) : behind
  }
}
