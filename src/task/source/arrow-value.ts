import { BinaryView, type Data, DataType, TimeUnit, Type, Vector } from 'apache-arrow'
import {
  dateOf,
  decimalOf,
  integerOf,
  MICROSECONDS,
  MILLISECONDS,
  NANOSECONDS,
  SECONDS,
  timeOf,
  timestampOf,
} from './scalar.js'
import { utf8Text } from './utf8.js'

/** Columns of nulls need no bytes: more than that is no data. */
const MOST_NULLS = 2 ** 31

/** Gives the value of a row of a column as plain JavaScript. */
export type Cell = (row: number) => unknown

const DIGITS: Record<TimeUnit, number> = {
  [TimeUnit.SECOND]: SECONDS,
  [TimeUnit.MILLISECOND]: MILLISECONDS,
  [TimeUnit.MICROSECOND]: MICROSECONDS,
  [TimeUnit.NANOSECOND]: NANOSECONDS,
}

/**
 * Reads one column of a record batch. Arrow's own `get` knows the type of a value and does not say it: a decimal comes as
 * words of 32 bits, a date as milliseconds, text with U+FFFD where bytes are wrong.
 */
export function cellsOf(data: Data): Cell {
  if (!(data.length <= capacityOf(data))) throw new RangeError('a column is shorter than its batch says')
  const cell = cellsOfType(data)
  return (row) => {
    if (row < 0 || row >= data.length) throw new RangeError(`a column ends before row ${row}`)
    return data.getValid(row) ? cell(row) : null
  }
}

function cellsOfType(data: Data): Cell {
  const { type, values, children } = data
  if (DataType.isNull(type)) return () => null
  if (DataType.isDictionary(type)) return dictionaryCells(data)
  if (DataType.isUtf8(type) || DataType.isLargeUtf8(type)) return (row) => utf8Text(bytesAt(data, row))
  if (DataType.isBinary(type) || DataType.isLargeBinary(type)) return (row) => bytesAt(data, row).slice()
  if (DataType.isDecimal(type)) {
    return (row) => decimalOf(littleEndian(values.subarray(row * data.stride, (row + 1) * data.stride)), type.scale)
  }
  if (DataType.isDate(type)) return type.unit === 0 ? (row) => dateOf(values[row]) : millisecondDates(values)
  if (DataType.isTime(type)) return (row) => timeOf(BigInt(values[row]), DIGITS[type.unit])
  if (DataType.isTimestamp(type)) return (row) => timestampOf(values[row], DIGITS[type.unit])
  // As seconds: a number alone would not say its unit.
  if (DataType.isDuration(type)) return (row) => decimalOf(values[row], DIGITS[type.unit])
  if (DataType.isList(type) || DataType.isLargeList(type) || DataType.isFixedSizeList(type)) {
    const item = cellsOf(children[0])
    return (row) => itemsAt(data, row).map(item)
  }
  if (DataType.isMap(type)) return mapCells(data)
  if (DataType.isStruct(type)) {
    const fields = type.children.map(({ name }, i) => [name, cellsOf(children[i])] as const)
    return (row) => Object.fromEntries(fields.map(([name, cell]) => [name, cell(row)]))
  }
  if (DataType.isUnion(type)) return unionCells(data)
  return otherCells(data)
}

/** Whole days as dates; a time of the day, which some writers leave in, is not lost. */
function millisecondDates(values: BigInt64Array): Cell {
  return (row) =>
    values[row] % 86_400_000n === 0n ? dateOf(values[row] / 86_400_000n) : timestampOf(values[row], MILLISECONDS)
}

function dictionaryCells(data: Data): Cell {
  const parts = (data.dictionary?.data ?? []).map((part) => ({ length: part.length, cell: cellsOf(part) }))
  return (row) => {
    let key = Number(data.values[row])
    for (const { length, cell } of parts) {
      if (key < length) return cell(key)
      key -= length
    }
    throw new RangeError('a key is not in its dictionary')
  }
}

function mapCells(data: Data): Cell {
  const [keys, values] = data.children[0].children.map(cellsOf)
  return (row) => Object.fromEntries(itemsAt(data, row).map((item) => [String(keys(item)), values(item)]))
}

function unionCells(data: Data): Cell {
  const members = data.children.map(cellsOf)
  const { typeIdToChildIndex } = data.type as unknown as { typeIdToChildIndex: Record<number, number> }
  return (row) => {
    const cell = members[typeIdToChildIndex[data.typeIds[row]]]
    if (!cell) throw new RangeError('a union holds a type that it does not list')
    return cell(data.typeId === Type.DenseUnion || data.valueOffsets ? Number(data.valueOffsets[row]) : row)
  }
}

/** Integers, floats, booleans, bytes of fixed size and views: here `get` is right. */
function otherCells(data: Data): Cell {
  const vector = new Vector([data])
  const isText = data.typeId === Type.Utf8View
  const bytes = isText ? new Vector([data.clone(new BinaryView())]) : vector
  return (row) => {
    const value: unknown = isText ? bytes.get(row) : vector.get(row)
    if (typeof value === 'bigint') return integerOf(value)
    if (value instanceof Uint8Array) return isText ? utf8Text(value) : value.slice()
    return ArrayBuffer.isView(value) ? Array.from(value as unknown as Iterable<number>) : value
  }
}

function bytesAt(data: Data, row: number): Uint8Array {
  const [start, end] = rangeAt(data, row, data.values.length)
  return data.values.subarray(start, end)
}

function itemsAt(data: Data, row: number): number[] {
  const fixed = DataType.isFixedSizeList(data.type) ? data.stride : undefined
  const [start, end] =
    fixed === undefined ? rangeAt(data, row, data.children[0].length) : [row * fixed, (row + 1) * fixed]
  return Array.from({ length: end - start }, (_, i) => start + i)
}

/** Rows that the buffers of a column hold; a damaged file may claim any number. */
function capacityOf(data: Data): number {
  const { type, values, valueOffsets, typeIds, children, stride } = data
  if (DataType.isNull(type)) return MOST_NULLS
  if (DataType.isUnion(type)) return typeIds.length
  if (DataType.isStruct(type)) return Math.min(MOST_NULLS, ...children.map(({ length }) => length))
  if (DataType.isFixedSizeList(type)) return stride > 0 ? children[0].length / stride : 0
  if (valueOffsets) return data.length === 0 ? 0 : valueOffsets.length - 1
  return DataType.isBool(type) ? values.length * 8 : values.length / stride
}

/** Offsets of a damaged file may point anywhere. */
function rangeAt(data: Data, row: number, size: number): [start: number, end: number] {
  const [start, end] = [Number(data.valueOffsets[row]), Number(data.valueOffsets[row + 1])]
  if (start >= 0 && start <= end && end <= size) return [start, end]
  throw new RangeError(`the value is outside its column (${start} to ${end} of ${size})`)
}

/** A two's complement integer of 32-bit words, least significant first. */
function littleEndian(words: Uint32Array): bigint {
  let value = 0n
  for (let i = words.length - 1; i >= 0; i--) value = (value << 32n) | BigInt(words[i])
  return BigInt.asIntN(words.length * 32, value)
}
