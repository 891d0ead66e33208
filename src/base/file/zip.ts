import { type FileHandle, open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { inflateRaw } from 'node:zlib'
import { crc32 } from '../crc.js'
import { TrinityError } from '../error.js'
import { reading } from './system-error.js'

const inflate = promisify(inflateRaw) as (data: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>

/** The end of the directory: its mark, its length without a comment, and the longest comment. */
const END_MARK = 0x06054b50
const END_LENGTH = 22
const LONGEST_COMMENT = 0xffff
const ENTRY_MARK = 0x02014b50
const ENTRY_LENGTH = 46
const LOCAL_MARK = 0x04034b50
const LOCAL_LENGTH = 30
const END64_MARK = 0x06064b50
const END64_LENGTH = 56
const LOCATOR_MARK = 0x07064b50
const LOCATOR_LENGTH = 20
/** Stands for a number that is too large for its place, and follows elsewhere. */
const LARGE = 0xffffffff
const LARGE_FIELD = 1
const STORED = 0
const DEFLATED = 8

interface Entry {
  readonly method: number
  readonly crc: number
  readonly packed: number
  readonly size: number
  readonly offset: number
}

/** A zip file (a wheel, a jar, a file of PyTorch), of which single entries are read. */
export class ZipFile {
  readonly #path: string
  readonly #handle: FileHandle
  /** Where it begins, in a file that holds several. */
  readonly #start: number
  readonly #entries: ReadonlyMap<string, Entry>

  private constructor(path: string, handle: FileHandle, start: number, entries: ReadonlyMap<string, Entry>) {
    this.#path = path
    this.#start = start
    this.#handle = handle
    this.#entries = entries
  }

  /** `part`: the bytes of a larger file that are a zip file. */
  static async open(path: string, part?: { offset: number; length: number }): Promise<ZipFile> {
    const handle = await reading(open(path), path)
    try {
      const start = part?.offset ?? 0
      const size = part?.length ?? (await handle.stat()).size
      return new ZipFile(path, handle, start, await directory(path, handle, start, size))
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  get names(): string[] {
    return [...this.#entries.keys()]
  }

  has(name: string): boolean {
    return this.#entries.has(name)
  }

  /** Bytes of an entry as it was before it was packed. */
  sizeOf(name: string): number {
    return this.#entry(name).size
  }

  /** The bytes of an entry, checked. */
  async read(name: string): Promise<Buffer> {
    const entry = this.#entry(name)
    const packed = await bytesAt(this.#path, this.#handle, await this.#begin(name, entry), entry.packed)
    const data = await this.#unpack(name, entry, packed)
    if (data.length === entry.size && crc32(data) === entry.crc) return data
    throw broken(this.#path, `${name} is damaged`)
  }

  /** A part of an entry that is not packed; it is not checked against its sum. */
  async readStored(name: string, from: number, length: number): Promise<Buffer> {
    const entry = this.#entry(name)
    if (entry.method !== STORED || entry.packed !== entry.size) throw broken(this.#path, `${name} is packed`)
    if (from + length > entry.size) throw broken(this.#path, `${name} ends too early`)
    return bytesAt(this.#path, this.#handle, (await this.#begin(name, entry)) + from, length)
  }

  #entry(name: string): Entry {
    const entry = this.#entries.get(name)
    if (entry) return entry
    throw broken(this.#path, `it has no ${name}`)
  }

  /** Where the bytes of an entry begin. */
  async #begin(name: string, { offset }: Entry): Promise<number> {
    const local = await bytesAt(this.#path, this.#handle, this.#start + offset, LOCAL_LENGTH)
    if (local.readUInt32LE(0) !== LOCAL_MARK) throw broken(this.#path, `${name} is not where it should be`)
    return this.#start + offset + LOCAL_LENGTH + local.readUInt16LE(26) + local.readUInt16LE(28)
  }

  async close(): Promise<void> {
    await this.#handle.close()
  }

  async #unpack(name: string, { method, size }: Entry, packed: Buffer): Promise<Buffer> {
    if (method === STORED) return packed
    if (method !== DEFLATED) throw broken(this.#path, `${name} is packed in a way that is not known here (${method})`)
    try {
      return await inflate(packed, { maxOutputLength: Math.max(1, size) })
    } catch {
      throw broken(this.#path, `${name} is damaged`)
    }
  }
}

async function directory(path: string, handle: FileHandle, start: number, size: number): Promise<Map<string, Entry>> {
  const tailLength = Math.min(size, END_LENGTH + LONGEST_COMMENT + LOCATOR_LENGTH)
  const tail = await bytesAt(path, handle, start + size - tailLength, tailLength)
  const end = lastEnd(tail)
  if (end === undefined) throw broken(path, 'the directory at its end is missing')
  const { count, length, offset } = await placeOf(path, handle, start, tail, end)
  if (offset + length > size) throw broken(path, 'a part of it is missing')
  const list = await bytesAt(path, handle, start + offset, length)
  const entries = new Map<string, Entry>()
  for (let i = 0, at = 0; i < count; i++) {
    if (at + ENTRY_LENGTH > list.length || list.readUInt32LE(at) !== ENTRY_MARK) {
      throw broken(path, 'its directory is damaged')
    }
    const next = at + ENTRY_LENGTH + list.readUInt16LE(at + 28)
    const extra = list.subarray(next, next + list.readUInt16LE(at + 30))
    const [size, packed, offset] = widened(
      [at + 24, at + 20, at + 42].map((place) => list.readUInt32LE(place)),
      extra,
    )
    entries.set(list.toString('utf8', at + ENTRY_LENGTH, next), {
      method: list.readUInt16LE(at + 10),
      crc: list.readUInt32LE(at + 16),
      packed,
      size,
      offset,
    })
    at = next + extra.length + list.readUInt16LE(at + 32)
  }
  return entries
}

/** Where the directory is. In a file of more than 4 GB, or with more than 65,535 entries, a second end says it. */
async function placeOf(path: string, handle: FileHandle, start: number, tail: Buffer, end: number) {
  const locator = end - LOCATOR_LENGTH
  if (locator < 0 || tail.readUInt32LE(locator) !== LOCATOR_MARK) {
    return {
      count: tail.readUInt16LE(end + 10),
      length: tail.readUInt32LE(end + 12),
      offset: tail.readUInt32LE(end + 16),
    }
  }
  const at = Number(tail.readBigUInt64LE(locator + 8))
  const large = await bytesAt(path, handle, start + at, END64_LENGTH)
  if (large.readUInt32LE(0) !== END64_MARK) throw broken(path, 'its directory is damaged')
  const number = (place: number) => Number(large.readBigUInt64LE(place))
  return { count: number(32), length: number(40), offset: number(48) }
}

/** Numbers that do not fit follow in a field of their own, in the order of their places. */
function widened(numbers: number[], extra: Buffer): number[] {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== LARGE_FIELD) continue
    let place = at + 4
    return numbers.map((number) => {
      if (number !== LARGE || place + 8 > extra.length) return number
      place += 8
      return Number(extra.readBigUInt64LE(place - 8))
    })
  }
  return numbers
}

/** A comment may hold the mark too: the one whose comment reaches to the end counts. */
function lastEnd(tail: Buffer): number | undefined {
  for (let at = tail.length - END_LENGTH; at >= 0; at--) {
    if (tail.readUInt32LE(at) !== END_MARK) continue
    if (at + END_LENGTH + tail.readUInt16LE(at + 20) === tail.length) return at
  }
  return undefined
}

async function bytesAt(path: string, handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const { size } = await handle.stat()
  if (!(position >= 0 && position + length <= size)) throw broken(path, 'a part of it is missing')
  const out = Buffer.alloc(length)
  for (let at = 0; at < length; ) {
    // More than 2 GB cannot be asked for at once.
    const { bytesRead } = await reading(handle.read(out, at, Math.min(length - at, 1 << 30), position + at), path)
    if (bytesRead === 0) throw broken(path, 'a part of it is missing')
    at += bytesRead
  }
  return out
}

function broken(path: string, why: string): TrinityError {
  return new TrinityError('file/zip', `${path} cannot be read as a zip file: ${why}`, { path })
}
