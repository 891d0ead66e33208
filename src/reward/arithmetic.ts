import { add, divide, multiply, negate, type Rational, rational } from './math/rational.js'

export interface Arithmetic {
  /** `undefined` when it divides by zero or grows too large. */
  value?: Rational
  /** The numbers in the order in which they are written. */
  numbers: Rational[]
}

const MAX_LENGTH = 2000
const MAX_DEPTH = 100

/** Reads + − * / and brackets over plain numbers; `undefined` for anything else. Evaluates nothing but this. */
export function readArithmetic(text: string): Arithmetic | undefined {
  if (text.length > MAX_LENGTH) return undefined
  const tokens = text.match(/\d+(?:\.\d+)?|[-+*/()]|\S/g) ?? []
  const numbers: Rational[] = []
  let at = 0
  let depth = 0
  let broken = false
  const value = sum()
  return broken || at !== tokens.length || tokens.length === 0 ? undefined : { value, numbers }

  function sum(): Rational | undefined {
    let left = product()
    while (tokens[at] === '+' || tokens[at] === '-') {
      const sign = tokens[at++]
      const right = product()
      left = left && right && add(left, sign === '-' ? negate(right) : right)
    }
    return left
  }

  function product(): Rational | undefined {
    let left = factor()
    while (tokens[at] === '*' || tokens[at] === '/') {
      const operator = tokens[at++]
      const right = factor()
      left = left && right && (operator === '*' ? multiply(left, right) : divide(left, right))
    }
    return left
  }

  function factor(): Rational | undefined {
    const token = tokens[at++]
    if (broken || token === undefined || depth > MAX_DEPTH) return fail()
    if (token === '-' || token === '+') {
      depth++
      const value = factor()
      depth--
      return token === '-' ? value && negate(value) : value
    }
    if (token === '(') {
      depth++
      const value = sum()
      depth--
      return tokens[at++] === ')' ? value : fail()
    }
    if (!/^\d/.test(token)) return fail()
    const [whole = '', fraction = ''] = token.split('.')
    const value = rational(BigInt(whole + fraction), 10n ** BigInt(fraction.length))
    if (value !== undefined) numbers.push(value)
    return value ?? fail()
  }

  function fail(): undefined {
    broken = true
    return undefined
  }
}
