/**
 * Exact fractions of bounded size. Every operation may answer `undefined` ("too large, or no such number"): a model's
 * text decides how large the numbers are, so that size is a matter of time and memory that an attacker must not own.
 */
export interface Rational {
  readonly n: bigint
  /** Always positive. Not always in lowest terms: reducing large numbers costs more than it saves. */
  readonly d: bigint
}

const MAX_BITS = 40_000
const REDUCE_BELOW = 1n << 512n
const REDUCE_ABOVE = -REDUCE_BELOW

/** Above this a number is not stored. */
const LIMIT = 1n << BigInt(MAX_BITS)
const LOWER_LIMIT = -LIMIT

export function rational(n: bigint, d = 1n): Rational | undefined {
  if (d === 0n) return undefined
  if (d < 0n) [n, d] = [-n, -d]
  if (d !== 1n && d < REDUCE_BELOW && n < REDUCE_BELOW && n > REDUCE_ABOVE) {
    const g = gcd(n < 0n ? -n : n, d)
    if (g > 1n) [n, d] = [n / g, d / g]
  }
  if (n > LIMIT || n < LOWER_LIMIT || d > LIMIT) return undefined
  return { n, d }
}

function gcd(a: bigint, b: bigint): bigint {
  while (b !== 0n) [a, b] = [b, a % b]
  return a
}

export const add = (a: Rational, b: Rational) =>
  a.d === b.d ? rational(a.n + b.n, a.d) : rational(a.n * b.d + b.n * a.d, a.d * b.d)
export const multiply = (a: Rational, b: Rational) => rational(a.n * b.n, a.d * b.d)
export const divide = (a: Rational, b: Rational) => rational(a.n * b.d, a.d * b.n)
export const negate = (a: Rational): Rational => ({ n: -a.n, d: a.d })

/** −1, 0 or 1. */
export function compare(a: Rational, b: Rational): number {
  const left = a.n * b.d
  const right = b.n * a.d
  return left < right ? -1 : left > right ? 1 : 0
}

export function isInteger(a: Rational): boolean {
  return a.n % a.d === 0n
}

export function floor(a: Rational): Rational {
  const q = a.n / a.d
  return { n: a.n < 0n && q * a.d !== a.n ? q - 1n : q, d: 1n }
}

/** Whole exponents, and roots that come out even. */
export function power(base: Rational, exponent: Rational): Rational | undefined {
  if (!isInteger(exponent)) {
    if (exponent.d > 12n) return undefined
    const base2 = root(base, exponent.d)
    return base2 && power(base2, { n: exponent.n, d: 1n })
  }
  const e = exponent.n / exponent.d
  if (base.n === 0n) return e > 0n ? base : e === 0n ? { n: 1n, d: 1n } : undefined
  const k = e < 0n ? -e : e
  if (base.d === 1n && (base.n === 1n || base.n === -1n)) return { n: k % 2n === 0n ? 1n : base.n, d: 1n }
  const size = Math.max(bits(base.n), bits(base.d))
  if (k > BigInt(MAX_BITS) || size * Number(k) > MAX_BITS + 64) return undefined
  return e < 0n ? rational(base.d ** k, base.n ** k) : rational(base.n ** k, base.d ** k)
}

/** The k-th root of a square, cube, … of a fraction that is not negative. */
function root(value: Rational, k: bigint): Rational | undefined {
  if (value.n < 0n || value.n > REDUCE_BELOW || value.d > REDUCE_BELOW) return undefined
  const n = wholeRoot(value.n, k)
  if (n ** k !== value.n) return undefined
  const d = wholeRoot(value.d, k)
  return d ** k === value.d ? rational(n, d) : undefined
}

/** ⌊a^(1/k)⌋ by Newton's method from above. */
function wholeRoot(a: bigint, k: bigint): bigint {
  if (a < 2n) return a
  let x = 1n << BigInt(Math.ceil(a.toString(2).length / Number(k)))
  for (;;) {
    const y = ((k - 1n) * x + a / x ** (k - 1n)) / k
    if (y >= x) return x
    x = y
  }
}

/** Upper bound of the number of binary digits. */
function bits(a: bigint): number {
  return (a < 0n ? -a : a).toString(16).length * 4
}

export function factorial(n: bigint): Rational | undefined {
  if (n < 0n || n > 2000n) return undefined
  let product = 1n
  for (let k = 2n; k <= n; k++) product *= k
  return rational(product)
}

export function binomial(n: bigint, k: bigint): Rational | undefined {
  if (k < 0n || n < 0n || n > 2000n) return undefined
  let value = 1n
  for (let j = 1n; j <= k; j++) value = (value * (n - j + 1n)) / j
  return rational(value)
}

export function toNumber(a: Rational): number {
  const n = bits(a.n)
  const d = bits(a.d)
  if (n < 1000 && d < 1000) return Number(a.n) / Number(a.d)
  // Shift so that neither side overflows a double; the quotient keeps about 64 significant bits.
  const shift = n - d - 64
  const quotient = shift >= 0 ? a.n / (a.d << BigInt(shift)) : (a.n << BigInt(-shift)) / a.d
  return Number(quotient) * 2 ** shift
}

/** `12`, `0.50`, `.5`, `4.5e33`; `repeating` are digits that go on for ever after the last one. */
export function parseDecimal(text: string, repeating = ''): Rational | undefined {
  const match = /^(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(text)
  if (!match || (match[1] === '' && !match[2] && repeating === '')) return undefined
  const whole = match[1] ?? ''
  const fraction = match[2] ?? ''
  const exponent = Number(match[3] ?? 0)
  if (whole.length + fraction.length + repeating.length > 9000 || Math.abs(exponent) > 9000) return undefined
  const scale = 10n ** BigInt(fraction.length)
  let value = rational(BigInt(whole + fraction || '0'), scale)
  if (repeating !== '') {
    const tail = rational(BigInt(repeating), (10n ** BigInt(repeating.length) - 1n) * scale)
    value = value && tail && add(value, tail)
  }
  const ten = { n: 10n, d: 1n }
  const factor = exponent === 0 ? undefined : power(ten, { n: BigInt(exponent), d: 1n })
  return value && factor ? multiply(value, factor) : exponent === 0 ? value : undefined
}
