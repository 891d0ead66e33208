import type { TensorData } from './experience.js'
import { numberOut } from './fields.js'

/**
 * `[1,2.5,…]` of a typed array, with decimals that are short and the same number in float32. Digits are written as bytes: one
 * string for the list and none for its numbers, which is several times as fast as joining them.
 */
export function listText(data: TensorData): string {
  at = 0
  put(OPEN)
  if (data instanceof Float32Array) putFloats(data)
  else if (data instanceof BigInt64Array || data instanceof BigUint64Array) putText(data.join(','))
  else putIntegers(data)
  put(CLOSE)
  return bytes.toString('latin1', 0, at)
}

const [OPEN, CLOSE, COMMA, MINUS, POINT, ZERO] = [...'[],-.0'].map((c) => c.charCodeAt(0))
/** No number takes more. */
const WIDEST = 32
let bytes = Buffer.allocUnsafe(1 << 16)
let at = 0

function put(byte: number): void {
  if (at + WIDEST > bytes.length) {
    const larger = Buffer.allocUnsafe(2 * bytes.length)
    bytes.copy(larger, 0, 0, at)
    bytes = larger
  }
  bytes[at++] = byte
}

function putText(text: string): void {
  for (let i = 0; i < text.length; i++) put(text.charCodeAt(i))
}

function putIntegers(data: ArrayLike<number>): void {
  for (let i = 0; i < data.length; i++) {
    if (i > 0) put(COMMA)
    const value = data[i]
    // -2 ** 31 has no positive twin among the integers that digits are taken of
    if (value < -0x7fffffff || value > 0x7fffffff || !Number.isInteger(value)) putText(String(value))
    else if (value < 0) {
      put(MINUS)
      putDigits(-value, 1)
    } else putDigits(value, 1)
  }
}

/** At least `width` digits of an integer below 2 ** 31. */
function putDigits(value: number, width: number): void {
  let count = width
  for (let power = POWERS[width]; count < 10 && value >= power; power *= 10) count++
  put(ZERO) // makes room for all of them
  const end = at - 1 + count
  let rest = value | 0
  for (let i = end - 1; i >= at - 1; i--) {
    const next = (rest / 10) | 0
    bytes[i] = ZERO + rest - 10 * next
    rest = next
  }
  at = end
}

function putFloats(data: Float32Array): void {
  // Advantages and returns are often the same number in every place; 0 and −0 are equal, but not the same text.
  let last = Number.NaN
  let begun = 0
  let ended = 0
  for (let i = 0; i < data.length; i++) {
    if (i > 0) put(COMMA)
    const value = data[i]
    if (value === last && value !== 0) {
      put(ZERO)
      bytes.copyWithin(at - 1, begun, ended)
      at += ended - begun - 1
      continue
    }
    begun = at
    putFloat(value)
    ended = at
    last = value
  }
}

const POWERS = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10]
/** Digits behind the point that are tried. */
const PLACES = [3, 6, 7, 8, 9]

function putFloat(value: number): void {
  const size = Math.abs(value)
  // within these bounds nine places are enough, and what stands behind the point is below 2 ** 31
  if (size >= 0.001 && size < 1000) {
    for (const places of PLACES) {
      const scale = POWERS[places]
      const scaled = Math.round(size * scale)
      if (Math.fround(scaled / scale) === size) {
        if (value < 0) put(MINUS)
        putDecimal(scaled, scale, places)
        return
      }
    }
  }
  const out = numberOut(short(value))
  putText(typeof out === 'string' ? `"${out}"` : String(out))
}

function putDecimal(scaled: number, scale: number, places: number): void {
  const whole = Math.floor(scaled / scale)
  let fraction = scaled - whole * scale
  putDigits(whole, 1)
  if (fraction === 0) return
  let width = places
  for (; fraction % 10 === 0; width--) fraction /= 10
  put(POINT)
  putDigits(fraction, width)
}

const SCALES = [1e3, 1e6, 1e7, 1e8, 1e9, 1e10]

/** A short decimal that is the same number in float32: about half the text of what float64 would need. */
function short(value: number): number {
  for (const scale of SCALES) {
    const rounded = Math.round(value * scale) / scale
    if (Math.fround(rounded) === value) return value === 0 ? value : rounded
  }
  return Number.isFinite(value) ? Number(value.toPrecision(9)) : value
}
