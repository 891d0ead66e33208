/**
 * The compact form of experiences. Little-endian throughout, everything 8-byte aligned:
 *
 *     frame   'TRXP'  u16 version (2)  u16 0  u32 number of records  u32 0
 *     record  u32 header bytes  u32 array bytes (both as padded)  u32 CRC-32 of what follows  u32 unpadded header bytes
 *             header: JSON of the plain fields and `arrays`: [name, type, shape, bytes] in order
 *             arrays: raw values, each padded to 8 bytes
 *
 * Version 1 of the same magic is the pickled form of the Python original. It can run code on reading, so it is refused.
 */

import { crc32 } from '../base/crc.js'
import { messageOf, TrinityError } from '../base/error.js'
import { arrayType, dtypeOf, elements, isShape } from './dtype.js'
import { type Experience, type TensorData, uid } from './experience.js'
import { fromFields, type NamedArray, toFields } from './fields.js'

const BINARY_VERSION = 2
const MAGIC = 0x50585254 // 'TRXP'
const FRAME = 16
const RECORD = 16
const LIMIT = 0xffffffff

const utf8 = new TextDecoder('utf-8', { fatal: true })

export interface EncodeOptions {
  /** Plain fields to leave out, by their name in files: what a table holds in columns of its own. */
  omit?: ReadonlySet<string>
}

/** One experience as bytes, for `decodeExperience`. */
export function encodeExperience(experience: Experience, options?: EncodeOptions): Uint8Array {
  return encodeExperiences([experience], options)
}

/** Experiences as bytes, for `decodeExperiences`. */
export function encodeExperiences(experiences: readonly Experience[], options: EncodeOptions = {}): Uint8Array {
  const records = experiences.map((experience) => layOut(experience, options))
  const bytes = new Uint8Array(records.reduce((sum, record) => sum + record.size, FRAME))
  const view = new DataView(bytes.buffer)
  view.setUint32(0, MAGIC, true)
  view.setUint16(4, BINARY_VERSION, true)
  view.setUint32(8, records.length, true)
  let at = FRAME
  for (const record of records) {
    write(record, bytes, view, at)
    at += record.size
  }
  return bytes
}

interface Layout {
  header: Buffer
  arrays: NamedArray[]
  arrayBytes: number
  size: number
}

function layOut(experience: Experience, options: EncodeOptions): Layout {
  const { plain, arrays } = toFields(experience, options.omit)
  let arrayBytes = 0
  plain.arrays = arrays.map((array) => {
    arrayBytes += padded(array.data.byteLength)
    const type = array.dtype ?? dtypeOf(array.data)
    if (type === undefined) {
      throw new TrinityError('experience/unstorable', `${uid(experience.eid)}: '${array.name}' is not a typed array`)
    }
    return [array.name, type, array.shape ?? [array.data.length], array.data.byteLength]
  })
  let header: Buffer
  try {
    header = Buffer.from(JSON.stringify(plain))
  } catch (cause) {
    throw new TrinityError('experience/unstorable', `${uid(experience.eid)}: ${messageOf(cause)}`, {
      hint: 'info, messages and tools must be plain JSON',
      cause,
    })
  }
  const size = RECORD + padded(header.length) + arrayBytes
  if (size > LIMIT) throw new TrinityError('experience/unstorable', `${uid(experience.eid)}: larger than 4 GiB`)
  return { header, arrays, arrayBytes, size }
}

function write(record: Layout, bytes: Uint8Array, view: DataView, start: number): void {
  const headerBytes = padded(record.header.length)
  bytes.set(record.header, start + RECORD)
  let at = start + RECORD + headerBytes
  for (const { data } of record.arrays) {
    bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), at)
    at += padded(data.byteLength)
  }
  view.setUint32(start, headerBytes, true)
  view.setUint32(start + 4, record.arrayBytes, true)
  view.setUint32(start + 8, crc32(bytes.subarray(start + RECORD, start + record.size)), true)
  view.setUint32(start + 12, record.header.length, true)
}

/** Reads what `encodeExperience` wrote: exactly one experience. `where` names the source in errors. */
export function decodeExperience(bytes: Uint8Array, where = 'experience'): Experience {
  const experiences = decodeExperiences(bytes, where)
  if (experiences.length !== 1) throw corrupt(where, `holds ${experiences.length} experiences instead of one`)
  return experiences[0]
}

/** Reads what `encodeExperiences` wrote. The arrays are views into the bytes where alignment allows: do not write to them afterward. */
export function decodeExperiences(given: Uint8Array, where = 'experiences'): Experience[] {
  const bytes = given.byteOffset % 8 === 0 ? given : Uint8Array.from(given)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.length < FRAME || view.getUint32(0, true) !== MAGIC) throw corrupt(where, 'is not in the experience format')
  const version = view.getUint16(4, true)
  if (version !== BINARY_VERSION) {
    const hint = (version & 0xff) === 1 ? 'version 1 is the pickled form of the Python original' : undefined
    throw corrupt(where, `has version ${version}, this reader knows ${BINARY_VERSION}`, hint)
  }
  const count = view.getUint32(8, true)
  const experiences: Experience[] = []
  let at = FRAME
  for (let index = 0; index < count; index++) {
    const name = count === 1 ? where : `${where}, record ${index}`
    if (at + RECORD > bytes.length) throw corrupt(name, `ends early: ${count} records were announced`)
    const end = at + RECORD + view.getUint32(at, true) + view.getUint32(at + 4, true)
    if (end > bytes.length) throw corrupt(name, 'ends early')
    if (crc32(bytes.subarray(at + RECORD, end)) !== view.getUint32(at + 8, true))
      throw corrupt(name, 'is damaged (CRC)')
    experiences.push(readRecord(bytes, view, at, end, name))
    at = end
  }
  if (at !== bytes.length) throw corrupt(where, `has ${bytes.length - at} bytes after its last record`)
  return experiences
}

/**
 * The plain fields of the first experience, and the lengths of its arrays, from the beginning of its bytes: enough to say
 * what it is without its tokens. Undefined: the beginning is too short, or it is none.
 */
export function peekExperience(
  beginning: Uint8Array,
): { readonly plain: Readonly<Record<string, unknown>>; readonly lengths: ReadonlyMap<string, number> } | undefined {
  const bytes = Buffer.from(beginning.buffer, beginning.byteOffset, beginning.byteLength)
  const start = FRAME + RECORD
  if (bytes.length < start || bytes.readUInt32LE(0) !== MAGIC || bytes.readUInt16LE(4) !== BINARY_VERSION)
    return undefined
  const end = start + bytes.readUInt32LE(FRAME + 12)
  if (end > bytes.length) return undefined
  try {
    const plain = JSON.parse(utf8.decode(bytes.subarray(start, end)))
    const arrays: unknown[] = Array.isArray(plain?.arrays) ? plain.arrays : []
    const lengths = arrays.flatMap((entry) => {
      const [name, , shape] = Array.isArray(entry) ? entry : []
      return typeof name === 'string' && isShape(shape) ? [[name, elements(shape)] as const] : []
    })
    return { plain, lengths: new Map(lengths) }
  } catch {
    return undefined
  }
}

function readRecord(bytes: Uint8Array, view: DataView, start: number, end: number, where: string): Experience {
  const dataStart = start + RECORD + view.getUint32(start, true)
  const headerEnd = start + RECORD + view.getUint32(start + 12, true)
  if (headerEnd > dataStart) throw corrupt(where, 'has a header that does not fit')
  let plain: Record<string, unknown>
  try {
    plain = JSON.parse(utf8.decode(bytes.subarray(start + RECORD, headerEnd)))
  } catch (cause) {
    throw corrupt(where, `has a header that is not JSON: ${messageOf(cause)}`)
  }
  const table = plain?.arrays
  if (!Array.isArray(table)) throw corrupt(where, 'has no list of arrays')
  const { arrays: _, ...fields } = plain
  let at = dataStart
  const arrays = table.map((entry): NamedArray => {
    const array = readArray(entry, bytes, at, end, where)
    at += padded(array.data.byteLength)
    return array
  })
  return fromFields({ plain: fields, arrays }, where)
}

function readArray(entry: unknown, bytes: Uint8Array, at: number, end: number, where: string): NamedArray {
  const [name, type, shape, size] = Array.isArray(entry) ? entry : []
  const fits = Number.isInteger(size) && size >= 0 && at + size <= end
  if (typeof name !== 'string' || typeof type !== 'string' || !isShape(shape) || !fits) {
    throw corrupt(where, `has an array entry ${JSON.stringify(entry)?.slice(0, 80)} that does not fit`)
  }
  const known = arrayType(type)
  if (!known) return { name, shape, dtype: type, data: bytes.slice(at, at + size) }
  const length = elements(shape)
  if (length * known.BYTES_PER_ELEMENT !== size) throw corrupt(where, `has array '${name}' of the wrong size`)
  const start = bytes.byteOffset + at
  const data: TensorData =
    start % 8 === 0
      ? new known(bytes.buffer as ArrayBuffer, start, length)
      : new known(bytes.slice(at, at + size).buffer as ArrayBuffer)
  return { name, shape, data }
}

function padded(bytes: number): number {
  return Math.ceil(bytes / 8) * 8
}

function corrupt(where: string, what: string, hint?: string): TrinityError {
  return new TrinityError('experience/corrupt', `${where} ${what}`, { path: where, hint })
}
