/** Element types of safetensors files, and conversion between them and the f32 that engines compute in. */

export type Dtype =
  | 'F64'
  | 'F32'
  | 'F16'
  | 'BF16'
  | 'F8_E4M3'
  | 'F8_E5M2'
  | 'I64'
  | 'I32'
  | 'I16'
  | 'I8'
  | 'U64'
  | 'U32'
  | 'U16'
  | 'U8'
  | 'BOOL'

export const dtypeBytes: Readonly<Record<Dtype, number>> = {
  F64: 8,
  F32: 4,
  F16: 2,
  BF16: 2,
  F8_E4M3: 1,
  F8_E5M2: 1,
  I64: 8,
  I32: 4,
  I16: 2,
  I8: 1,
  U64: 8,
  U32: 4,
  U16: 2,
  U8: 1,
  BOOL: 1,
}

export type FloatDtype = 'F32' | 'F16' | 'BF16'

export function isDtype(name: unknown): name is Dtype {
  return typeof name === 'string' && Object.hasOwn(dtypeBytes, name)
}

/** `f32`, `float32`, `torch.bfloat16` and the like. */
export function floatDtype(name: string): FloatDtype | undefined {
  const known: Record<string, FloatDtype> = {
    f32: 'F32',
    fp32: 'F32',
    float32: 'F32',
    f16: 'F16',
    fp16: 'F16',
    float16: 'F16',
    half: 'F16',
    bf16: 'BF16',
    bfloat16: 'BF16',
  }
  const key = name.toLowerCase().replace(/^torch\./, '')
  return Object.hasOwn(known, key) ? known[key] : undefined
}

const floatBits = new Float32Array(1)
const wordBits = new Uint32Array(floatBits.buffer)

let halfTable: Float32Array | undefined

/** All 65,536 half-precision values: 256 KB, stays in the second-level cache, and beats decoding bit by bit. */
function halves(): Float32Array {
  if (halfTable) return halfTable
  const table = new Float32Array(65536)
  for (let bits = 0; bits < 65536; bits++) {
    const sign = bits & 0x8000 ? -1 : 1
    const exponent = (bits >> 10) & 31
    const fraction = bits & 1023
    if (exponent === 31) table[bits] = fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY
    else if (exponent === 0) table[bits] = sign * fraction * 2 ** -24
    else table[bits] = sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
  }
  halfTable = table
  return table
}

/** Writes `source` (elements of `dtype`, at any byte alignment) as f32 into `target`. */
export function toFloat32(dtype: Dtype, source: Uint8Array, target: Float32Array): void {
  const n = target.length
  switch (dtype) {
    case 'F32':
      new Uint8Array(target.buffer, target.byteOffset, target.byteLength).set(source)
      return
    case 'F16': {
      const half = aligned(source, 2, Uint16Array)
      const table = halves()
      for (let i = 0; i < n; i++) target[i] = table[half[i]]
      return
    }
    case 'BF16': {
      const half = aligned(source, 2, Uint16Array)
      const words = new Uint32Array(target.buffer, target.byteOffset, n)
      for (let i = 0; i < n; i++) words[i] = half[i] << 16
      return
    }
    case 'F64':
      target.set(aligned(source, 8, Float64Array))
      return
    case 'I64':
    case 'U64': {
      const wide = dtype === 'I64' ? aligned(source, 8, BigInt64Array) : aligned(source, 8, BigUint64Array)
      for (let i = 0; i < n; i++) target[i] = Number(wide[i])
      return
    }
    case 'I32':
      target.set(aligned(source, 4, Int32Array))
      return
    case 'U32':
      target.set(aligned(source, 4, Uint32Array))
      return
    case 'I16':
      target.set(aligned(source, 2, Int16Array))
      return
    case 'U16':
      target.set(aligned(source, 2, Uint16Array))
      return
    case 'I8':
      target.set(aligned(source, 1, Int8Array))
      return
    case 'U8':
    case 'BOOL':
      target.set(source)
      return
    case 'F8_E4M3':
      for (let i = 0; i < n; i++) target[i] = eighth(source[i], 3, 7)
      return
    case 'F8_E5M2':
      for (let i = 0; i < n; i++) target[i] = halves()[source[i] << 8]
      return
  }
}

/** E4M3 has no infinity: only all ones is NaN. */
function eighth(bits: number, fractionBits: number, bias: number): number {
  const sign = bits & 0x80 ? -1 : 1
  const exponent = (bits & 0x7f) >> fractionBits
  const fraction = (bits & ((1 << fractionBits) - 1)) / (1 << fractionBits)
  if ((bits & 0x7f) === 0x7f) return Number.NaN
  return sign * (exponent === 0 ? fraction * 2 ** (1 - bias) : (1 + fraction) * 2 ** (exponent - bias))
}

/** f32 as the bytes of `dtype`, rounded to nearest, ties to even. */
export function fromFloat32(dtype: FloatDtype, source: Float32Array): Uint8Array {
  const n = source.length
  if (dtype === 'F32') return new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
  const out = new Uint16Array(n)
  if (dtype === 'BF16') {
    const words = new Uint32Array(source.buffer, source.byteOffset, n)
    for (let i = 0; i < n; i++) {
      const word = words[i]
      out[i] = (word & 0x7fffffff) > 0x7f800000 ? (word >>> 16) | 0x40 : (word + 0x7fff + ((word >>> 16) & 1)) >>> 16
    }
  } else {
    for (let i = 0; i < n; i++) out[i] = halfBits(source[i])
  }
  return new Uint8Array(out.buffer)
}

/** Name of a type in config.json. */
export const dtypeName: Readonly<Record<FloatDtype, string>> = { F32: 'float32', F16: 'float16', BF16: 'bfloat16' }

/** Elements of one type as the bytes of another. */
export function converted(bytes: Uint8Array, from: Dtype, to: Dtype): Uint8Array {
  if (from === to) return bytes
  const values = new Float32Array(bytes.byteLength / dtypeBytes[from])
  toFloat32(from, bytes, values)
  return fromFloat32(to as FloatDtype, values)
}

function halfBits(value: number): number {
  floatBits[0] = value
  const word = wordBits[0]
  const sign = (word >>> 16) & 0x8000
  const magnitude = word & 0x7fffffff
  if (magnitude > 0x7f800000) return sign | 0x7e00
  if (magnitude >= 0x477ff000) return sign | 0x7c00 // rounds to 65,536 or more
  if (magnitude >= 0x38800000) return sign | ((magnitude - 0x38000000 + 0xfff + ((magnitude >>> 13) & 1)) >>> 13)
  // Subnormal: the value in units of 2^-24 is exact in a double, so one rounding is enough.
  const units = Math.abs(floatBits[0]) * 2 ** 24
  const floor = Math.floor(units)
  const rest = units - floor
  return sign | (rest > 0.5 || (rest === 0.5 && floor & 1) ? floor + 1 : floor)
}

type View<T> = { new (buffer: ArrayBufferLike, offset: number, length: number): T }

function aligned<T>(source: Uint8Array, size: number, type: View<T>): T {
  const bytes = source.byteOffset % size === 0 ? source : source.slice()
  return new type(bytes.buffer, bytes.byteOffset, bytes.byteLength / size)
}
