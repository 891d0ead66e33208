/**
 * Complex numbers with a bound of their error. Two values are equal when they differ by no more than they may be wrong:
 * no tolerance has to be guessed, and 123456789123π is told from 123456789124π.
 */
export interface Ball {
  readonly re: number
  readonly im: number
  readonly error: number
}

const EPSILON = 4.5e-16

export const INFINITE: Ball = { re: Number.POSITIVE_INFINITY, im: 0, error: 0 }

/** A value whose error is not known to be small says nothing; one that overflowed is not infinity. */
export function ball(re: number, im = 0, error = 0): Ball | undefined {
  if (!Number.isFinite(re) || !Number.isFinite(im) || !Number.isFinite(error)) return undefined
  if (error > 1e-7 * Math.max(1, Math.hypot(re, im))) return undefined
  return { re, im, error }
}

export const magnitude = (a: Ball) => Math.hypot(a.re, a.im)
const rounded = (re: number, im: number, error: number) => ball(re, im, error + EPSILON * Math.hypot(re, im))

export function equal(a: Ball, b: Ball): boolean {
  if (!Number.isFinite(a.re) || !Number.isFinite(b.re)) return a.re === b.re && a.im === b.im
  return Math.hypot(a.re - b.re, a.im - b.im) <= 4 * (a.error + b.error)
}

export const add = (a: Ball, b: Ball) => rounded(a.re + b.re, a.im + b.im, a.error + b.error)
export const negate = (a: Ball): Ball => ({ re: -a.re, im: -a.im, error: a.error })

export function multiply(a: Ball, b: Ball): Ball | undefined {
  const error = magnitude(a) * b.error + magnitude(b) * a.error + a.error * b.error
  if (a.im === 0 && b.im === 0) return rounded(a.re * b.re, 0, error)
  return rounded(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re, error)
}

export function divide(a: Ball, b: Ball): Ball | undefined {
  const size = magnitude(b)
  if (size <= 2 * b.error || size === 0) return undefined
  if (a.im === 0 && b.im === 0) {
    const q = a.re / b.re
    return rounded(q, 0, (a.error + Math.abs(q) * b.error) / size)
  }
  const re = (a.re * b.re + a.im * b.im) / size / size
  const im = (a.im * b.re - a.re * b.im) / size / size
  return rounded(re, im, (a.error + Math.hypot(re, im) * b.error) / size)
}

export function exp(a: Ball): Ball | undefined {
  const r = Math.exp(a.re)
  return rounded(r * Math.cos(a.im), r * Math.sin(a.im), r * (a.error + EPSILON * magnitude(a)))
}

export function log(a: Ball): Ball | undefined {
  const size = magnitude(a)
  if (size <= 2 * a.error || size === 0) return undefined
  return rounded(Math.log(size), angle(a), a.error / size + EPSILON)
}

/** A tiny imaginary part that is only rounding must not flip the branch. */
function angle(a: Ball): number {
  return Math.atan2(Math.abs(a.im) <= a.error ? 0 : a.im, a.re)
}

export function power(a: Ball, b: Ball): Ball | undefined {
  const size = magnitude(a)
  if (b.im === 0 && b.error === 0 && Number.isInteger(b.re) && Math.abs(b.re) <= 64) return wholePower(a, b.re)
  if (size <= a.error) return b.re > 0 ? ball(0, 0, (2 * a.error) ** b.re) : undefined
  if (a.im === 0 && b.im === 0 && a.re > 0) {
    const value = a.re ** b.re
    const relative = Math.abs(b.re) * (a.error / size) + Math.abs(Math.log(a.re)) * b.error
    return rounded(value, 0, Math.abs(value) * (relative + EPSILON * (1 + Math.abs(b.re * Math.log(a.re)))))
  }
  const l = log(a)
  const product = l && multiply(b, l)
  return product && exp(product)
}

function wholePower(a: Ball, exponent: number): Ball | undefined {
  let result = ball(1)
  let square: Ball | undefined = a
  for (let k = Math.abs(exponent); k > 0 && result && square; k >>= 1) {
    if (k & 1) result = multiply(result, square)
    if (k > 1) square = multiply(square, square)
  }
  const one = ball(1)
  return exponent < 0 ? result && one && divide(one, result) : result
}

/** A real function with its derivative; complex arguments are not supported. */
export function real(a: Ball, f: (x: number) => number, derivative: (x: number) => number): Ball | undefined {
  if (Math.abs(a.im) > a.error) return undefined
  const value = f(a.re)
  return rounded(value, 0, Math.abs(derivative(a.re)) * a.error + EPSILON * Math.abs(derivative(a.re) * a.re))
}
