import { isUtf8 } from 'node:buffer'
import type { ParquetParsers, SchemaElement, SchemaTree } from 'hyparquet'
import { parseJson } from './exact-json.js'
import { plain, Unreadable } from './plain.js'
import { bigEndian, dateOf, decimalOf, MICROSECONDS, MILLISECONDS, NANOSECONDS, timeOf, timestampOf } from './scalar.js'
import { NotUtf8, utf8Text } from './utf8.js'

/** Turns a value as the library gives it into plain JavaScript. */
type Value = (value: unknown) => unknown

const UNITS = { MILLIS: MILLISECONDS, MICROS: MICROSECONDS, NANOS: NANOSECONDS }
const TIMES: Record<string, keyof typeof UNITS | undefined> = { TIME_MILLIS: 'MILLIS', TIME_MICROS: 'MICROS' }

/** Dates and times with all their digits, and text that is checked. */
export const parsers: Partial<ParquetParsers> = {
  timestampFromMilliseconds: (value) => timestampOf(BigInt(value), MILLISECONDS),
  timestampFromMicroseconds: (value) => timestampOf(value, MICROSECONDS),
  timestampFromNanoseconds: (value) => timestampOf(value, NANOSECONDS),
  dateFromDays: dateOf,
  stringFromBytes: (bytes) => bytes && (isUtf8(bytes) ? utf8Text(bytes) : new Unreadable(new NotUtf8())),
  jsonFromBytes: (bytes) => bytes && json(bytes),
}

function json(bytes: Uint8Array): unknown {
  try {
    return parseJson(utf8Text(bytes))
  } catch (error) {
    return new Unreadable(error)
  }
}

/**
 * What the values of a column become. Decimals are taken from the library as they are stored (it multiplies by 0.01,
 * which makes 0.1 of 0.10 only nearly), so this also changes their description.
 */
export function valuesOf(node: SchemaTree): Value {
  const { element, children } = node
  if (children.length === 0) return repeated(leafValues(element))
  if (element.logical_type?.type === 'VARIANT') return plain
  const inner = children[0]
  if (element.converted_type === 'MAP' && children.length === 1 && inner.children.length === 2) {
    const [, values] = inner.children.map(valuesOf)
    return repeated(structValues(() => values))
  }
  if (element.converted_type === 'LIST' && children.length === 1 && inner.children.length < 2) {
    return repeated(valuesOf(inner.children[0] ?? inner))
  }
  const fields = new Map(children.map((child) => [child.element.name, valuesOf(child)]))
  return repeated(structValues((name) => fields.get(name) ?? plain))
}

function structValues(field: (name: string) => Value): Value {
  return (value) => {
    if (value === null || typeof value !== 'object') return plain(value)
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, field(name)(item)]))
  }
}

/** Lists come as arrays at any depth, with or without the columns around them that the format prescribes. */
function repeated(one: Value): Value {
  const each: Value = (value) => {
    if (value === null || value === undefined) return null
    return Array.isArray(value) ? value.map(each) : one(value)
  }
  return each
}

function leafValues(element: SchemaElement): Value {
  const { logical_type: logical, converted_type: converted } = element
  if (converted === 'DECIMAL' || logical?.type === 'DECIMAL') {
    const scale = element.scale ?? (logical?.type === 'DECIMAL' ? logical.scale : 0)
    element.converted_type = undefined
    return (value) => decimalOf(value instanceof Uint8Array ? bigEndian(value) : BigInt(value as number), scale)
  }
  const unit = logical?.type === 'TIME' ? logical.unit : TIMES[converted ?? '']
  if (unit) return (value) => timeOf(BigInt(value as number), UNITS[unit])
  if (logical?.type === 'DATE' && converted !== 'DATE') return (value) => dateOf(value as number)
  return plain
}
