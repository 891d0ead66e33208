import { type FloatDtype, fromFloat32 } from '../dtype.js'
import { encodeQ4K, encodeQ6K } from './k-encode.js'
import { type GgufType, ggufTypes } from './types.js'

/** Encodes the block at `from` into `out` at `to`. */
export type BlockEncoder = (x: Float32Array, from: number, out: Uint8Array, to: number) => void

const { fround, abs, trunc, min, max } = Math

/** ggml's formulas, rounded to f32 where ggml rounds: the bytes are the same. */
const encoders = {
  Q8_0: (x, from, out, to) => {
    let most = 0
    for (let i = 0; i < 32; i++) most = max(most, abs(x[from + i]))
    const inverse = scaled(fround(most / 127), out, to)
    for (let i = 0; i < 32; i++) out[to + 2 + i] = awayFromZero(fround(x[from + i] * inverse))
  },
  Q4_0: (x, from, out, to) => {
    const inverse = scaled(fround(furthest(x, from) / -8), out, to)
    for (let i = 0; i < 16; i++) {
      const q = (at: number) => min(15, max(0, trunc(fround(fround(x[at] * inverse) + 8.5))))
      out[to + 2 + i] = q(from + i) | (q(from + 16 + i) << 4)
    }
  },
  Q5_0: (x, from, out, to) => {
    const inverse = scaled(fround(furthest(x, from) / -16), out, to)
    const q = (at: number) => min(31, max(0, trunc(fround(fround(x[at] * inverse) + 16.5))))
    let high = 0
    for (let i = 0; i < 16; i++) {
      const [first, second] = [q(from + i), q(from + 16 + i)]
      out[to + 6 + i] = (first & 15) | ((second & 15) << 4)
      high |= ((first >> 4) << i) | ((second >> 4) << (i + 16))
    }
    for (let i = 0; i < 4; i++) out[to + 2 + i] = high >>> (8 * i)
  },
  Q4_K: encodeQ4K,
  Q6_K: encodeQ6K,
} satisfies Partial<Record<GgufType, BlockEncoder>>

export type WritableType = FloatDtype | keyof typeof encoders

/** f32 as the bytes of a type; the length is a multiple of its block. */
export function quantize(type: WritableType, values: Float32Array): Uint8Array {
  if (type === 'F32' || type === 'F16' || type === 'BF16') return fromFloat32(type, values)
  const { block, bytes } = ggufTypes.get(type)!
  const out = new Uint8Array((values.length / block) * bytes)
  const encode: BlockEncoder = encoders[type]
  for (let from = 0, to = 0; from < values.length; from += block, to += bytes) encode(values, from, out, to)
  return out
}

/** Writes a scale as half precision; what values are multiplied with to be in its units. */
function scaled(d: number, out: Uint8Array, to: number): number {
  out.set(fromFloat32('F16', Float32Array.of(d)), to)
  return d === 0 ? 0 : fround(1 / d)
}

/** The value with the largest magnitude, with its sign; the first of several. */
function furthest(x: Float32Array, from: number): number {
  let found = x[from]
  for (let i = 1; i < 32; i++) if (abs(x[from + i]) > abs(found)) found = x[from + i]
  return found
}

function awayFromZero(value: number): number {
  return value < 0 ? -Math.floor(-value + 0.5) : Math.floor(value + 0.5)
}
