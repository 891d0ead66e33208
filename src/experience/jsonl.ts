/**
 * The readable form: one JSON object per line, under the names of the Python original, with the arrays as lists so that
 * nothing is lost. `v` is the version of this form. Tensors (media, routed experts) are {dtype, shape, base64}.
 */
import { messageOf, TrinityError } from '../base/error.js'
import { parseJsonText } from '../base/json-text.js'
import { arrayType, dtypeOf, elements, isShape } from './dtype.js'
import { type Experience, TOKEN_FLOATS, uid } from './experience.js'
import { fromFields, type NamedArray, numberIn, toFields } from './fields.js'
import { listText } from './number-list.js'

const JSONL_VERSION = 1

const FLOATS = new Set<string>(Object.values(TOKEN_FLOATS))
const INTS = new Set(['tokens', 'chosen', 'rejected'])

/** One line, without its line break: the fields for people first, the arrays behind them. */
export function toJsonLine(experience: Experience): string {
  const { plain, arrays } = toFields(experience)
  const { columns, ...rest } = plain
  const line = { v: JSONL_VERSION, ...rest, response_length: experience.tokens.length - experience.promptLength }
  const parts = [stringify(line, experience).slice(0, -1)]
  const columnParts = Object.entries((columns as Record<string, unknown>) ?? {}).map(
    ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`,
  )
  for (const array of arrays) {
    if (array.name.startsWith('columns:')) {
      columnParts.push(`${JSON.stringify(array.name.slice(8))}:${listText(array.data)}`)
    } else if (array.shape === undefined && array.dtype === undefined) {
      parts.push(`,${JSON.stringify(array.name)}:${listText(array.data)}`)
    } else parts.push(`,${JSON.stringify(array.name)}:${JSON.stringify(tensorOut(array))}`)
  }
  if (columnParts.length > 0) parts.push(`,"columns":{${columnParts.join(',')}}`)
  parts.push('}')
  return parts.join('')
}

function stringify(line: unknown, experience: Experience): string {
  try {
    return JSON.stringify(line)
  } catch (cause) {
    throw new TrinityError('experience/unstorable', `${uid(experience.eid)}: ${messageOf(cause)}`, {
      hint: 'info, messages and tools must be plain JSON',
      cause,
    })
  }
}

/** Reads an experience from a line that `toJsonLine` wrote. `where` names the record in errors, for example `file.jsonl:12`. */
export function fromJsonLine(line: string, where = 'line'): Experience {
  let parsed: unknown
  try {
    parsed = parseJsonText(line)
  } catch (cause) {
    throw corrupt(where, `is not JSON: ${messageOf(cause)}`)
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw corrupt(where, 'is not a JSON object')
  const { v, response_length: _, ...rest } = parsed as Record<string, unknown>
  if (v !== undefined && v !== JSONL_VERSION) {
    throw corrupt(where, `has version ${JSON.stringify(v)}, this reader knows ${JSONL_VERSION}`)
  }
  const plain: Record<string, unknown> = {}
  const arrays: NamedArray[] = []
  for (const [name, value] of Object.entries(rest)) {
    if (name === 'columns') readColumns(value, plain, arrays, where)
    else if (Array.isArray(value) && FLOATS.has(name)) arrays.push({ name, data: floats(value, name, where) })
    else if (Array.isArray(value) && INTS.has(name)) {
      arrays.push({ name, data: integers(value, new Int32Array(value.length), name, where) })
    } else if (Array.isArray(value) && name === 'action_mask') {
      arrays.push({ name, data: integers(value, new Uint8Array(value.length), name, where) })
    } else if (isTensor(value)) arrays.push(tensorIn(name, value, where))
    else Object.defineProperty(plain, name, { value, enumerable: true, writable: true, configurable: true })
  }
  if (!arrays.some((array) => array.name === 'tokens')) {
    throw corrupt(where, "has no 'tokens'", 'files of the Python original hold text only: train on them as sft data')
  }
  return fromFields({ plain, arrays }, where)
}

function integers<T extends Int32Array | Uint8Array>(values: unknown[], into: T, name: string, where: string): T {
  for (let i = 0; i < values.length; i++) {
    const value = typeof values[i] === 'boolean' ? Number(values[i]) : values[i]
    into[i] = value as number
    if (into[i] !== value) throw corrupt(where, `has a wrong entry in '${name}' at ${i}`)
  }
  return into
}

function floats(values: unknown[], name: string, where: string): Float32Array {
  const into = new Float32Array(values.length)
  for (let i = 0; i < values.length; i++) {
    const value = numberIn(values[i])
    if (value === undefined) throw corrupt(where, `has a wrong entry in '${name}' at ${i}`)
    into[i] = value
  }
  return into
}

function readColumns(value: unknown, plain: Record<string, unknown>, arrays: NamedArray[], where: string): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw corrupt(where, "has bad 'columns'")
  const scalars: [string, unknown][] = []
  for (const [name, column] of Object.entries(value)) {
    if (Array.isArray(column)) arrays.push({ name: `columns:${name}`, data: floats(column, name, where) })
    else scalars.push([name, column])
  }
  plain.columns = Object.fromEntries(scalars)
}

interface StoredTensor {
  dtype: string
  shape: number[]
  base64: string
}

function isTensor(value: unknown): value is StoredTensor {
  const tensor = value as Partial<StoredTensor> | null
  return typeof tensor?.base64 === 'string' && typeof tensor.dtype === 'string' && isShape(tensor.shape)
}

function tensorOut({ data, shape, dtype }: NamedArray): StoredTensor {
  const raw = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  const type = dtype ?? dtypeOf(data) ?? 'uint8'
  return { dtype: type, shape: [...(shape ?? [data.length])], base64: raw.toString('base64') }
}

function tensorIn(name: string, { dtype, shape, base64 }: StoredTensor, where: string): NamedArray {
  const bytes = Uint8Array.from(Buffer.from(base64, 'base64'))
  const type = arrayType(dtype)
  if (!type) return { name, shape, dtype, data: bytes }
  if (elements(shape) * type.BYTES_PER_ELEMENT !== bytes.length)
    throw corrupt(where, `has tensor '${name}' of the wrong size`)
  return { name, shape, data: new type(bytes.buffer) }
}

function corrupt(where: string, what: string, hint?: string): TrinityError {
  return new TrinityError('experience/corrupt', `${where} ${what}`, { path: where, hint })
}
