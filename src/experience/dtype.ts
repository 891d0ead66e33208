import type { TensorData } from './experience.js'

/** The array types of the stored forms, by the name that NumPy and PyTorch give them. */
const DTYPES = {
  uint8: Uint8Array,
  uint16: Uint16Array,
  int32: Int32Array,
  int64: BigInt64Array,
  float32: Float32Array,
  float64: Float64Array,
} as const
const names = new Map<unknown, string>(Object.entries(DTYPES).map(([name, type]) => [type, name]))

/** Undefined for what is no array of these types. A Buffer counts as bytes. */
export function dtypeOf(data: TensorData): string | undefined {
  return names.get(data?.constructor) ?? (data instanceof Uint8Array ? 'uint8' : undefined)
}

/** Undefined for a type JavaScript has no array for. */
export function arrayType(dtype: string): (typeof DTYPES)[keyof typeof DTYPES] | undefined {
  return Object.hasOwn(DTYPES, dtype) ? DTYPES[dtype as keyof typeof DTYPES] : undefined
}

export function elements(shape: readonly number[]): number {
  return shape.reduce((product, side) => product * side, 1)
}

export function isShape(shape: unknown): shape is number[] {
  return Array.isArray(shape) && shape.every((side) => Number.isInteger(side) && side >= 0)
}
