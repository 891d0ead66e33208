import { type Ball, equal } from './ball.js'
import { exact } from './exact.js'
import { children, type Node, type NumberNode, some } from './node.js'
import { numeric } from './numeric.js'
import { compare, type Rational, toNumber } from './rational.js'
import type { NumericSample } from './sample.js'

/** What comparisons share: sample points, and the values found so far. */
export class Scalars {
  readonly #exact = new Map<Node, (Rational | undefined)[]>()
  readonly #numeric = new Map<Node, (Ball | undefined)[]>()

  constructor(
    readonly samples: readonly NumericSample[],
    /** Relative difference that is forgiven; 0 forgives none but rounding that was written down. */
    readonly tolerance: number,
  ) {}

  exact(node: Node): (Rational | undefined)[] {
    return remember(this.#exact, node, () => this.#all(node, exact))
  }

  numeric(node: Node): (Ball | undefined)[] {
    return remember(this.#numeric, node, () => this.#all(node, numeric))
  }

  /** A value without names is the same at every point. */
  #all<T>(node: Node, evaluate: (node: Node, sample: NumericSample) => T): T[] {
    if (isFree(node)) return this.samples.map((sample) => evaluate(node, sample))
    const value = evaluate(node, this.samples[0]!)
    return this.samples.map(() => value)
  }

  /** The value of an expression without names, as a double. */
  constant(node: Node): number | undefined {
    if (isFree(node)) return undefined
    const value = this.numeric(node)[0]
    return value && value.im === 0 ? value.re : undefined
  }

  equal(a: Node, b: Node): boolean {
    const x = this.exact(a)
    const y = this.exact(b)
    let points = 0
    let exactly = true
    for (let k = 0; k < x.length && exactly; k++) {
      const [p, q] = [x[k], y[k]]
      if (p === undefined || q === undefined) exactly = false
      else if (compare(p, q) !== 0) return this.#near(a, b)
      else points++
    }
    if (exactly && points > 0) return true
    return this.#numericallyEqual(a, b) || this.#near(a, b)
  }

  #numericallyEqual(a: Node, b: Node): boolean {
    const x = this.numeric(a)
    const y = this.numeric(b)
    let points = 0
    for (let k = 0; k < x.length; k++) {
      const [p, q] = [x[k], y[k]]
      if (p === undefined || q === undefined) continue
      if (!equal(p, q)) return false
      points++
    }
    // Where it cannot be computed, the same formula is still the same.
    return points >= 2 || identical(a, b)
  }

  /** A decimal that is the other value rounded or cut off, or that is within the tolerance asked for. */
  #near(a: Node, b: Node): boolean {
    if (roundsTo(a, this.constant(b)) || roundsTo(b, this.constant(a))) return true
    if (this.tolerance === 0) return false
    const [x, y] = [this.constant(a), this.constant(b)]
    if (x === undefined || y === undefined || !Number.isFinite(x) || !Number.isFinite(y)) return false
    return Math.abs(x - y) <= this.tolerance * Math.max(Math.abs(x), Math.abs(y))
  }
}

function identical(a: Node, b: Node): boolean {
  if (a.kind !== b.kind) return false
  if ('name' in a && 'name' in b && a.name !== b.name) return false
  if (a.kind === 'number' && b.kind === 'number') return compare(a.value, b.value) === 0
  if (a.kind === 'based' || a.kind === 'text') return false
  const [x, y] = [children(a), children(b)]
  return x.length === y.length && x.every((child, k) => identical(child, y[k]!))
}

function remember<T>(cache: Map<Node, T>, node: Node, make: () => T): T {
  let value = cache.get(node)
  if (value === undefined) {
    value = make()
    cache.set(node, value)
  }
  return value
}

function isFree(node: Node): boolean {
  return some(node, (n) => n.kind === 'symbol' || (n.kind === 'call' && n.name.startsWith('apply ')))
}

/** With fewer digits than this, a decimal is a value of its own and not an approximation. */
const ENOUGH_DIGITS = 6

function roundsTo(decimal: Node, value: number | undefined): boolean {
  if (value === undefined) return false
  let sign = 1
  let node = decimal
  for (; node.kind === 'negate'; node = node.item) sign = -sign
  if (node.kind !== 'number' || node.decimals === undefined || (node.significant ?? 0) < ENOUGH_DIGITS) return false
  return isRounding(node, sign * value)
}

/** Whether `value`, given to as many places as `written` has, is `written`. */
export function isRounding(written: NumberNode, value: number): boolean {
  const step = 10 ** -(written.decimals ?? 0)
  // 1234567e400 is given to the nearest 10^400: beyond the range of doubles any value would be its rounding.
  if (!Number.isFinite(step) || step === 0) return false
  const difference = value - toNumber(written.value)
  const slack = 4e-16 * Math.abs(value)
  // Rounded either way, or cut off; a whole step away is another value.
  return (
    Math.abs(difference) <= step / 2 + slack ||
    (difference * Math.sign(value) >= 0 && Math.abs(difference) < step * 0.999999)
  )
}
