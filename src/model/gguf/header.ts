import { TrinityError } from '../../base/error.js'
import { type GgufTypeInfo, ggufType } from './types.js'

export type GgufValue = number | bigint | boolean | string | readonly GgufValue[] | ArrayLike<number>

/** A tensor as the file has it. */
export interface GgufTensor {
  readonly name: string
  readonly type: GgufTypeInfo
  /** Rows first, as everywhere else; the file has it the other way around. */
  readonly shape: readonly number[]
  readonly size: number
  readonly bytes: number
  /** Offset of the first byte in the file. */
  readonly offset: number
}

export interface GgufHeader {
  readonly metadata: ReadonlyMap<string, GgufValue>
  readonly tensors: ReadonlyMap<string, GgufTensor>
}

/** The bytes end before the header does. */
export class HeaderGoesOn extends Error {}

const MAGIC = 0x46554747
const STRING = 8
const ARRAY = 9
/** What an element takes at least: nothing may be claimed that the file cannot hold. */
const widths: Readonly<Record<number, number>> = {
  0: 1,
  1: 1,
  2: 2,
  3: 2,
  4: 4,
  5: 4,
  6: 4,
  7: 1,
  8: 8,
  9: 12,
  10: 8,
  11: 8,
  12: 8,
}
const DIMENSIONS = 4
const DEEPEST = 4

/** Reads a header out of the first bytes of a file of `fileSize`; everything it says is held against that size. */
export function parseGgufHeader(start: Uint8Array, fileSize: number, path: string): GgufHeader {
  const at = new Cursor(start, fileSize, path)
  if (fileSize < 24 || at.u32() !== MAGIC) throw broken(path, 'does not begin like a GGUF file')
  const version = at.u32()
  if (version !== 2 && version !== 3) {
    throw new TrinityError('gguf/version', `${path} is a GGUF file of version ${version}`, {
      path,
      hint: 'versions 2 and 3 are read; convert it with a current llama.cpp (big-endian files are not read)',
    })
  }
  const tensorCount = at.count(1 + 8 + 4 + 4 + 8)
  const keyCount = at.count(8 + 4 + 1)
  const metadata = new Map<string, GgufValue>()
  for (let i = 0; i < keyCount; i++) {
    const key = at.text()
    if (metadata.has(key)) throw broken(path, `names '${key.slice(0, 80)}' twice`)
    metadata.set(key, at.value(at.u32(), 0))
  }
  const raw = Array.from({ length: tensorCount }, () => tensorOf(at, path))
  const alignment = metadata.get('general.alignment') ?? 32
  if (typeof alignment !== 'number' || alignment < 8 || alignment > 65536 || alignment % 8 !== 0) {
    throw broken(path, `has the alignment ${String(alignment)}`)
  }
  const data = Math.ceil(at.position / alignment) * alignment
  const tensors = new Map<string, GgufTensor>()
  for (const tensor of raw) {
    const offset = data + tensor.offset
    if (tensors.has(tensor.name)) throw broken(path, `names tensor '${tensor.name}' twice`)
    if (tensor.offset % alignment !== 0) throw broken(path, `has tensor '${tensor.name}' at an odd place`)
    if (offset + tensor.bytes > fileSize) {
      throw broken(path, `is truncated: tensor '${tensor.name}' ends at byte ${offset + tensor.bytes} of ${fileSize}`)
    }
    tensors.set(tensor.name, { ...tensor, offset })
  }
  checkApart([...tensors.values()], path)
  return { metadata, tensors }
}

function tensorOf(at: Cursor, path: string): GgufTensor {
  const name = at.text()
  const wrong = (what: string) => broken(path, `tensor '${name.slice(0, 80)}' ${what}`)
  const dimensions = at.u32()
  if (dimensions < 1 || dimensions > DIMENSIONS) throw wrong(`has ${dimensions} dimensions`)
  const shape = Array.from({ length: dimensions }, () => at.u64()).reverse()
  const number = at.u32()
  const type = ggufType(number)
  const offset = at.u64()
  if (typeof type === 'string') {
    throw new TrinityError('gguf/type', `${path}: tensor '${name}' is of type ${type}, which is not read here`, {
      path,
      hint: 'use a file of type F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1 or Q2_K to Q6_K',
    })
  }
  const size = shape.reduce((product, n) => product * n, 1)
  if (!Number.isSafeInteger(size) || size === 0 || (shape.at(-1) ?? 0) % type.block !== 0) {
    throw wrong(`of ${type.name} has the shape [${shape.join(', ')}]`)
  }
  return { name, type, shape, size, bytes: (size / type.block) * type.bytes, offset }
}

function checkApart(tensors: GgufTensor[], path: string): void {
  tensors.sort((a, b) => a.offset - b.offset)
  for (let i = 1; i < tensors.length; i++) {
    if (tensors[i - 1].offset + tensors[i - 1].bytes > tensors[i].offset) {
      throw broken(path, `tensor '${tensors[i].name}' overlaps '${tensors[i - 1].name}'`)
    }
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

class Cursor {
  position = 0
  readonly #view: DataView
  readonly #bytes: Uint8Array
  readonly #fileSize: number
  readonly #path: string

  constructor(bytes: Uint8Array, fileSize: number, path: string) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#fileSize = fileSize
    this.#path = path
  }

  u32(): number {
    return this.#view.getUint32(this.#take(4), true)
  }

  u64(): number {
    const value = this.#view.getBigUint64(this.#take(8), true)
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw broken(this.#path, `holds the number ${value} in its header`)
    return Number(value)
  }

  /** A number of things that take at least `width` bytes each. */
  count(width: number): number {
    const count = this.u64()
    if (count * width <= this.#fileSize - this.position) return count
    throw broken(this.#path, `claims ${count} entries in its header, more than the file can hold`)
  }

  text(): string {
    const length = this.count(1)
    const from = this.#take(length)
    try {
      return utf8.decode(this.#bytes.subarray(from, from + length))
    } catch (cause) {
      throw broken(this.#path, 'has text in its header that is not UTF-8', cause)
    }
  }

  value(type: number, depth: number): GgufValue {
    switch (type) {
      case 0:
        return this.#view.getUint8(this.#take(1))
      case 1:
        return this.#view.getInt8(this.#take(1))
      case 2:
        return this.#view.getUint16(this.#take(2), true)
      case 3:
        return this.#view.getInt16(this.#take(2), true)
      case 4:
        return this.u32()
      case 5:
        return this.#view.getInt32(this.#take(4), true)
      case 6:
        return this.#view.getFloat32(this.#take(4), true)
      case 7:
        return this.#view.getUint8(this.#take(1)) !== 0
      case STRING:
        return this.text()
      case ARRAY:
        return this.#array(depth)
      case 10:
        return small(this.#view.getBigUint64(this.#take(8), true))
      case 11:
        return small(this.#view.getBigInt64(this.#take(8), true))
      case 12:
        return this.#view.getFloat64(this.#take(8), true)
      default:
        throw broken(this.#path, `has a value of the unknown type ${type} in its header`)
    }
  }

  #array(depth: number): GgufValue {
    const type = this.u32()
    if (!(type in widths) || depth >= DEEPEST) throw broken(this.#path, `has a list of the unknown type ${type}`)
    const count = this.count(widths[type])
    const values: GgufValue[] = []
    for (let i = 0; i < count; i++) values.push(this.value(type, depth + 1))
    return values
  }

  #take(length: number): number {
    const from = this.position
    if (from + length > this.#fileSize) throw broken(this.#path, 'is truncated: it ends within its header')
    if (from + length > this.#bytes.byteLength) throw new HeaderGoesOn()
    this.position += length
    return from
  }
}

function small(value: bigint): number | bigint {
  return value <= Number.MAX_SAFE_INTEGER && value >= Number.MIN_SAFE_INTEGER ? Number(value) : value
}

function broken(path: string, what: string, cause?: unknown): TrinityError {
  return new TrinityError('gguf/invalid', `${path} ${what}`, { path, hint: 'copy or download the file again', cause })
}
