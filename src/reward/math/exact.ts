import type { Node } from './node.js'
import * as R from './rational.js'
import type { NumericSample } from './sample.js'

const ONE: R.Rational = { n: 1n, d: 1n }
const HUNDREDTH: R.Rational = { n: 1n, d: 100n }

/** The exact value at a sample point; `undefined` when it is irrational, too large, or none. */
export function exact(node: Node, sample: NumericSample): R.Rational | undefined {
  sample.spend()
  switch (node.kind) {
    case 'number':
      return node.value
    case 'symbol':
      if (node.unit && sample.mode.dropUnits) return ONE
      return node.factor ? R.multiply(node.factor, sample.value(node.name)) : sample.value(node.name)
    case 'constant':
      if (node.name === 'percent') return sample.mode.dropPercent ? ONE : HUNDREDTH
      return node.name === 'degree' && sample.mode.dropDegrees ? ONE : undefined
    case 'negate': {
      const a = exact(node.item, sample)
      return a && R.negate(a)
    }
    case 'add':
      return fold(node.items, sample, R.add)
    case 'multiply':
      return fold(node.items, sample, R.multiply)
    case 'divide':
      return binary(node.left, node.right, sample, R.divide)
    case 'power':
      return binary(node.left, node.right, sample, R.power)
    case 'based':
      return basedValue(node.digits, node.base)
    case 'call':
      return call(node.name, node.items, sample)
    default:
      return undefined
  }
}

type Operation = (a: R.Rational, b: R.Rational) => R.Rational | undefined

function fold(items: readonly Node[], sample: NumericSample, operation: Operation): R.Rational | undefined {
  let value = exact(items[0]!, sample)
  for (let k = 1; k < items.length && value; k++) {
    const next = exact(items[k]!, sample)
    value = next && operation(value, next)
  }
  return value
}

function binary(left: Node, right: Node, sample: NumericSample, operation: Operation): R.Rational | undefined {
  const a = exact(left, sample)
  if (a === undefined) return undefined
  const b = exact(right, sample)
  return b && operation(a, b)
}

function call(name: string, items: readonly Node[], sample: NumericSample): R.Rational | undefined {
  if (!/^(?:abs|floor|ceil|factorial|binomial)$/.test(name)) return undefined
  const a = exact(items[0]!, sample)
  if (a === undefined) return undefined
  if (name === 'abs') return a.n < 0n ? R.negate(a) : a
  if (name === 'floor') return R.floor(a)
  if (name === 'ceil') return R.negate(R.floor(R.negate(a)))
  if (!R.isInteger(a)) return undefined
  if (name === 'factorial') return R.factorial(a.n / a.d)
  const b = exact(items[1]!, sample)
  return b && R.isInteger(b) ? R.binomial(a.n / a.d, b.n / b.d) : undefined
}

export function basedValue(digits: string, base: number): R.Rational | undefined {
  if (base < 2 || base > 36 || digits.length > 2000) return undefined
  let value = 0n
  for (const digit of digits) {
    const d = Number.parseInt(digit, 36)
    if (Number.isNaN(d) || d >= base) return undefined
    value = value * BigInt(base) + BigInt(d)
  }
  return R.rational(value)
}
