import { toFloat32 } from '../dtype.js'

let table: Float32Array | undefined

/** The half-precision number whose bytes stand at `at`. */
export function halfAt(bytes: Uint8Array, at: number): number {
  table ??= everyHalf()
  return table[bytes[at] | (bytes[at + 1] << 8)]
}

function everyHalf(): Float32Array {
  const values = new Float32Array(65536)
  toFloat32('F16', new Uint8Array(Uint16Array.from(values, (_, bits) => bits).buffer), values)
  return values
}
