/**
 * A value of Parquet or Arrow as plain JavaScript. 64-bit integers become numbers where that is exact and decimal text
 * where it is not; dates become ISO text; binary stays `Uint8Array`; lists and structs become arrays and objects.
 * `open` turns what only the caller knows (Arrow's vectors and rows) into an array or an object first.
 */
export function plain(value: unknown, open: (value: object) => object = (object) => object): unknown {
  if (value === undefined) return null
  if (typeof value === 'bigint') {
    return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : String(value)
  }
  if (value === null || typeof value !== 'object' || value instanceof Uint8Array) return value
  if (value instanceof Date) return value.toISOString()
  const opened = open(value)
  if (Array.isArray(opened)) return opened.map((item) => plain(item, open))
  if (ArrayBuffer.isView(opened)) return Array.from(opened as unknown as Iterable<unknown>, (item) => plain(item, open))
  const out: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(opened)) out[key] = plain(item, open)
  return out
}
