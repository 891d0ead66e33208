import { fromFloat32 } from '../dtype.js'
import { halfAt } from './half.js'

const { abs, max, min, round, sqrt } = Math
const clamp = (value: number, least: number, most: number): number => max(least, min(most, value))

const levels = new Uint8Array(32)
const trial = new Uint8Array(32)
const weights = new Float64Array(32)

/** Four bits each, in parts of 32 with a scale and a minimum of six bits. */
export function encodeQ4K(x: Float32Array, from: number, out: Uint8Array, to: number): void {
  const scales = new Float64Array(8)
  const minima = new Float64Array(8)
  for (let part = 0; part < 8; part++) {
    const at = from + part * 32
    let squares = 0
    for (let i = 0; i < 32; i++) squares += x[at + i] * x[at + i]
    const usual = sqrt(squares / 32)
    for (let i = 0; i < 32; i++) weights[i] = usual + abs(x[at + i])
    ;[scales[part], minima[part]] = fitScaleAndMinimum(x, at)
  }
  const d = writeHalf(max(...scales) / 63, out, to)
  const m = writeHalf(max(...minima) / 63, out, to + 2)
  const unit = (value: number, most: number) => (most > 0 ? min(63, round((63 / most) * value)) : 0)
  const sixBits = Array.from(scales, (scale) => unit(scale, max(...scales)))
  const sixMin = Array.from(minima, (minimum) => unit(minimum, max(...minima)))
  for (let j = 0; j < 4; j++) {
    out[to + 4 + j] = sixBits[j] | ((sixBits[j + 4] >> 4) << 6)
    out[to + 8 + j] = sixMin[j] | ((sixMin[j + 4] >> 4) << 6)
    out[to + 12 + j] = (sixBits[j + 4] & 15) | ((sixMin[j + 4] & 15) << 4)
  }
  for (let part = 0; part < 8; part++) {
    const [scale, minimum] = [d * sixBits[part], m * sixMin[part]]
    const shift = (part & 1) * 4
    const at = to + 16 + (part >> 1) * 32
    for (let i = 0; i < 32; i++) {
      const q = scale === 0 ? 0 : clamp(round((x[from + part * 32 + i] + minimum) / scale), 0, 15)
      out[at + i] = shift === 0 ? q : out[at + i] | (q << shift)
    }
  }
}

const STEPS = 20

/** Scale and (negated) minimum of 32 values in 16 levels: several spacings are tried, each with its best line by weighted least squares. */
function fitScaleAndMinimum(x: Float32Array, at: number): [scale: number, minimum: number] {
  let low = x[at]
  let high = x[at]
  let sumW = 0
  let sumX = 0
  for (let i = 0; i < 32; i++) {
    low = min(low, x[at + i])
    high = max(high, x[at + i])
    sumW += weights[i]
    sumX += weights[i] * x[at + i]
  }
  low = min(low, 0)
  if (high === low) return [0, -low]
  let [scale, minimum] = [(high - low) / 15, low]
  for (let i = 0; i < 32; i++) levels[i] = clamp(round((x[at + i] - low) / scale), 0, 15)
  let best = distance(x, at, levels, scale, minimum)
  for (let step = 0; step <= STEPS; step++) {
    const inverse = (-1 + 0.1 * step + 15) / (high - low)
    let [sumL, sumL2, sumXL] = [0, 0, 0]
    for (let i = 0; i < 32; i++) {
      const l = clamp(round(inverse * (x[at + i] - low)), 0, 15)
      trial[i] = l
      sumL += weights[i] * l
      sumL2 += weights[i] * l * l
      sumXL += weights[i] * l * x[at + i]
    }
    const determinant = sumW * sumL2 - sumL * sumL
    if (determinant <= 0) continue
    let ownScale = (sumW * sumXL - sumX * sumL) / determinant
    let ownMinimum = (sumL2 * sumX - sumL * sumXL) / determinant
    if (ownMinimum > 0) [ownMinimum, ownScale] = [0, sumXL / sumL2]
    const error = distance(x, at, trial, ownScale, ownMinimum)
    if (error < best) [best, scale, minimum] = [error, ownScale, ownMinimum]
  }
  return [scale, -minimum]
}

function distance(x: Float32Array, at: number, q: Uint8Array, scale: number, minimum: number): number {
  let sum = 0
  for (let i = 0; i < 32; i++) {
    const off = scale * q[i] + minimum - x[at + i]
    sum += weights[i] * off * off
  }
  return sum
}

/** Six bits each, in parts of 16 with a scale of eight bits. */
export function encodeQ6K(x: Float32Array, from: number, out: Uint8Array, to: number): void {
  const scales = new Float64Array(16)
  for (let part = 0; part < 16; part++) scales[part] = fitScale(x, from + part * 16)
  const largest = scales.reduce((found, scale) => (abs(scale) > abs(found) ? scale : found), 0)
  out.fill(0, to, to + 210)
  if (abs(largest) < 1e-15) return
  const d = writeHalf(largest / -128, out, to + 208)
  for (let part = 0; part < 16; part++) {
    out[to + 192 + part] = clamp(round((-128 / largest) * scales[part]), -128, 127)
    const scale = d * ((out[to + 192 + part] << 24) >> 24)
    for (let i = 0; i < 16; i++) {
      const place = part * 16 + i
      const q = scale === 0 ? 32 : clamp(round(x[from + place] / scale), -32, 31) + 32
      const [side, quarter, column] = [place >> 7, (place >> 5) & 3, place & 31]
      out[to + side * 64 + (quarter & 1) * 32 + column] |= (q & 15) << ((quarter >> 1) * 4)
      out[to + 128 + side * 32 + column] |= (q >> 4) << (quarter * 2)
    }
  }
}

/** The scale of 16 values in 64 levels around 0; large values count more. */
function fitScale(x: Float32Array, at: number): number {
  let furthest = 0
  for (let i = 0; i < 16; i++) if (abs(x[at + i]) > abs(furthest)) furthest = x[at + i]
  if (abs(furthest) < 1e-15) return 0
  let [scale, best] = [0, 0]
  for (let step = -9; step <= 9; step++) {
    const inverse = -(32 + 0.1 * step) / furthest
    let [sumXL, sumL2] = [0, 0]
    for (let i = 0; i < 16; i++) {
      const value = x[at + i]
      const l = clamp(round(inverse * value), -32, 31)
      sumXL += value * value * value * l
      sumL2 += value * value * l * l
    }
    if (sumL2 > 0 && sumXL * sumXL > best * sumL2) [scale, best] = [sumXL / sumL2, (sumXL * sumXL) / sumL2]
  }
  return scale
}

function writeHalf(value: number, out: Uint8Array, at: number): number {
  out.set(fromFloat32('F16', Float32Array.of(value)), at)
  return halfAt(out, at)
}
