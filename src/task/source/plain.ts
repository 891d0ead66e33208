import { integerOf } from './scalar.js'

/** A value that could not be read; whoever asks for its row is told. */
export class Unreadable {
  readonly error: unknown

  constructor(error: unknown) {
    this.error = error
  }
}

/**
 * A value of Parquet as plain JavaScript. 64-bit integers become numbers where that is exact and decimal text where it
 * is not; binary stays `Uint8Array`; lists and structs become arrays and objects.
 */
export function plain(value: unknown): unknown {
  if (value === undefined) return null
  if (typeof value === 'bigint') return integerOf(value)
  if (value === null || typeof value !== 'object') return value
  // A caller may change its row; the file in memory must not follow.
  if (value instanceof Uint8Array) return value.slice()
  if (value instanceof Unreadable) throw value.error
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return value.map(plain)
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as Iterable<unknown>, plain)
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]))
}
