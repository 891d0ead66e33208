import * as B from './ball.js'
import { exact } from './exact.js'
import type { Node } from './node.js'
import { type Rational, toNumber } from './rational.js'
import { hash, type NumericSample } from './sample.js'

type Value = B.Ball | undefined

/** The value at a sample point with a bound of its error; `undefined` where there is none that can be trusted. */
export function numeric(node: Node, sample: NumericSample): Value {
  sample.spend()
  switch (node.kind) {
    case 'number':
      return fromRational(node.value)
    case 'symbol': {
      if (node.unit && sample.mode.dropUnits) return B.ball(1)
      const value = fromRational(sample.value(node.name))
      return node.factor ? both(fromRational(node.factor), value, B.multiply) : value
    }
    case 'constant':
      return constant(node.name, sample)
    case 'negate': {
      const a = numeric(node.item, sample)
      return a && B.negate(a)
    }
    case 'add':
      return fold(node.items, sample, B.add)
    case 'multiply':
      return fold(node.items, sample, B.multiply)
    case 'divide':
      return both(numeric(node.left, sample), numeric(node.right, sample), B.divide)
    case 'power':
      return powerOf(node.left, node.right, sample)
    case 'based': {
      const value = exact(node, sample)
      return value && fromRational(value)
    }
    case 'call':
      return call(node.name, node.items, sample)
    default:
      return undefined
  }
}

function fromRational(value: Rational): Value {
  const x = toNumber(value)
  if (!Number.isFinite(x)) return undefined
  // A whole number that a double holds exactly has no error: exponents and floors depend on it.
  const sure = value.d === 1n && Number.isSafeInteger(x)
  return B.ball(x, 0, sure ? 0 : Math.abs(x) * 2.3e-16)
}

function both(a: Value, b: Value, operation: (a: B.Ball, b: B.Ball) => Value): Value {
  return a && b && operation(a, b)
}

function fold(items: readonly Node[], sample: NumericSample, operation: (a: B.Ball, b: B.Ball) => Value): Value {
  let value = numeric(items[0]!, sample)
  for (let k = 1; k < items.length && value; k++) value = both(value, numeric(items[k]!, sample), operation)
  return value
}

function constant(name: string, sample: NumericSample): Value {
  switch (name) {
    case 'pi':
      return B.ball(Math.PI, 0, 2e-16)
    case 'e':
      return B.ball(Math.E, 0, 2e-16)
    case 'i':
      return B.ball(0, 1)
    case 'infinity':
      return B.INFINITE
    case 'percent':
      return B.ball(sample.mode.dropPercent ? 1 : 0.01, 0, 1e-18)
    default:
      return sample.mode.dropDegrees ? B.ball(1) : B.ball(Math.PI / 180, 0, 4e-18)
  }
}

function powerOf(left: Node, right: Node, sample: NumericSample): Value {
  const base = numeric(left, sample)
  if (base === undefined) return undefined
  // An odd root of a negative number is the real one: that is what ∛−8 means at school.
  if (right.kind === 'divide' && base.im === 0 && base.re < 0) {
    const degree = exact(right.right, sample)
    if (degree !== undefined && degree.d === 1n && degree.n % 2n === 1n && degree.n > 0n) {
      const root = both(B.negate(base), numeric(right, sample), B.power)
      const numerator = exact(right.left, sample)
      if (numerator?.d === 1n) return root && (numerator.n % 2n === 0n ? root : B.negate(root))
    }
  }
  const exponent = numeric(right, sample)
  return exponent && B.power(base, exponent)
}

const REAL: Record<string, [f: (x: number) => number, derivative: (x: number) => number]> = {
  sin: [Math.sin, Math.cos],
  cos: [Math.cos, (x) => -Math.sin(x)],
  tan: [Math.tan, (x) => 1 + Math.tan(x) ** 2],
  arcsin: [Math.asin, (x) => 1 / Math.sqrt(1 - x * x)],
  arccos: [Math.acos, (x) => 1 / Math.sqrt(1 - x * x)],
  arctan: [Math.atan, (x) => 1 / (1 + x * x)],
  sinh: [Math.sinh, Math.cosh],
  cosh: [Math.cosh, Math.sinh],
  tanh: [Math.tanh, (x) => 1 - Math.tanh(x) ** 2],
  arsinh: [Math.asinh, (x) => 1 / Math.sqrt(1 + x * x)],
  arcosh: [Math.acosh, (x) => 1 / Math.sqrt(x * x - 1)],
  artanh: [Math.atanh, (x) => 1 / (1 - x * x)],
}

const RECIPROCAL: Record<string, string> = {
  cot: 'tan',
  sec: 'cos',
  csc: 'sin',
  coth: 'tanh',
  sech: 'cosh',
  csch: 'sinh',
}
const INVERSE_RECIPROCAL: Record<string, string> = { arcsec: 'arccos', arccsc: 'arcsin' }

function call(name: string, items: readonly Node[], sample: NumericSample): Value {
  if (name === 'floor' || name === 'ceil') {
    // At a step, only the exact value says which side it is on.
    const whole = exact({ kind: 'call', name, items: [...items] }, sample)
    if (whole !== undefined) return fromRational(whole)
  }
  const a = numeric(items[0]!, sample)
  if (a === undefined) return undefined
  const one = B.ball(1)!
  const direct = REAL[name]
  if (direct) return realOf(direct, a)
  if (RECIPROCAL[name]) return both(one, realOf(REAL[RECIPROCAL[name]]!, a), B.divide)
  if (INVERSE_RECIPROCAL[name]) {
    const inverse = B.divide(one, a)
    return inverse && realOf(REAL[INVERSE_RECIPROCAL[name]]!, inverse)
  }
  switch (name) {
    case 'arccot':
      return both(B.ball(Math.PI / 2, 0, 1e-16), realOf(REAL.arctan!, B.negate(a)), B.add)
    case 'exp':
      return B.exp(a)
    case 'ln':
      return B.log(a)
    case 'log': {
      const base = items[1] === undefined ? B.ball(10) : numeric(items[1], sample)
      return both(B.log(a), base && B.log(base), B.divide)
    }
    case 'abs':
      return B.ball(B.magnitude(a), 0, a.error)
    case 'floor':
    case 'ceil':
      return step(a, name === 'floor' ? Math.floor : Math.ceil)
    case 'factorial':
      return gammaPlusOne(a)
    case 'binomial': {
      const b = numeric(items[1]!, sample)
      const c = b && B.add(a, B.negate(b))
      return both(gammaPlusOne(a), both(b && gammaPlusOne(b), c && gammaPlusOne(c), B.multiply), B.divide)
    }
  }
  return name.startsWith('apply ') ? unknownFunction(name, items, sample) : undefined
}

function realOf([f, derivative]: (typeof REAL)[string], a: B.Ball): Value {
  return B.real(a, f, derivative)
}

function step(a: B.Ball, f: (x: number) => number): Value {
  if (a.im !== 0 || f(a.re - 4 * a.error) !== f(a.re + 4 * a.error)) return undefined
  return B.ball(f(a.re))
}

/** Γ(x + 1) by Stirling's series after shifting the argument upward. */
function gammaPlusOne(a: B.Ball): Value {
  if (a.im !== 0 || a.re <= -1 || a.re > 165) return undefined
  let x = a.re + 1
  let divisor = 1
  while (x < 20) divisor *= x++
  const inverse = 1 / (x * x)
  const series = (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse / 1680))) / x
  const value = Math.exp((x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + series) / divisor
  return B.ball(value, 0, value * (1e-13 + 6 * a.error))
}

/** f is not known, but f(1 + x) = f(x + 1): any smooth function drawn from the name will do. */
function unknownFunction(name: string, items: readonly Node[], sample: NumericSample): Value {
  let re = 0
  let error = 0
  for (const [k, item] of items.entries()) {
    const a = numeric(item, sample)
    if (a === undefined || a.im !== 0) return undefined
    const weight = 0.3 + (hash(`${name}${k}`, sample.seed) % 1000) / 1000
    re += Math.sin(weight * a.re + 7 * weight) + weight * (a.re + 1)
    error += 3 * a.error
  }
  return B.ball(re, 0, error + 1e-15 * (1 + Math.abs(re)))
}
