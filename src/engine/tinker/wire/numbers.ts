import { badAnswer } from '../failure.js'

/** Arrays of the wire: bytes in the order of small machines, which is the order of all machines that Node runs on. */
export function int32Bytes(values: ArrayLike<number>): Uint8Array {
  return bytesOf(Int32Array.from(values))
}

export function int64Bytes(values: ArrayLike<number>): Uint8Array {
  const wide = new Int32Array(values.length * 2)
  for (let i = 0; i < values.length; i++) {
    wide[2 * i] = values[i]
    wide[2 * i + 1] = values[i] < 0 ? -1 : 0
  }
  return bytesOf(wide)
}

export function floatBytes(values: ArrayLike<number>): Uint8Array {
  return bytesOf(Float32Array.from(values))
}

export function floatsOf(bytes: Uint8Array): Float32Array {
  return new Float32Array(aligned(bytes, 4))
}

export function int32sOf(bytes: Uint8Array): Int32Array {
  return new Int32Array(aligned(bytes, 4))
}

/** Whole numbers of eight bytes, such as offsets; beyond 2^53 is no offset. */
export function int64sOf(bytes: Uint8Array): number[] {
  return Array.from(new BigInt64Array(aligned(bytes, 8)), Number)
}

/** bfloat16: the upper half of a float32. */
export function bfloatsOf(bytes: Uint8Array): Float32Array {
  const halves = new Uint16Array(aligned(bytes, 2))
  return new Float32Array(Uint32Array.from(halves, (half) => half * 65_536).buffer)
}

function bytesOf(values: Int32Array | Float32Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
}

/** A copy: arrays of larger elements cannot begin just anywhere. */
function aligned(bytes: Uint8Array, width: number): ArrayBuffer {
  if (bytes.length % width !== 0) throw badAnswer(`${bytes.length} bytes are no array of ${width}-byte numbers`)
  return new Uint8Array(bytes).buffer
}
