import { type FileHandle, open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { inflateRaw } from 'node:zlib'
import { crc32 } from '../crc.js'
import { TrinityError } from '../error.js'
import { inWords } from './system-error.js'

const inflate = promisify(inflateRaw) as (data: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>

/** The end of the directory: its mark, its length without a comment, and the longest comment. */
const END_MARK = 0x06054b50
const END_LENGTH = 22
const LONGEST_COMMENT = 0xffff
const ENTRY_MARK = 0x02014b50
const ENTRY_LENGTH = 46
const LOCAL_MARK = 0x04034b50
const LOCAL_LENGTH = 30
const STORED = 0
const DEFLATED = 8

interface Entry {
  readonly method: number
  readonly crc: number
  readonly packed: number
  readonly size: number
  readonly offset: number
}

/** A zip file (a wheel, a jar) of less than 4 GB, of which single entries are read. */
export class ZipFile {
  readonly #path: string
  readonly #handle: FileHandle
  readonly #entries: ReadonlyMap<string, Entry>

  private constructor(path: string, handle: FileHandle, entries: ReadonlyMap<string, Entry>) {
    this.#path = path
    this.#handle = handle
    this.#entries = entries
  }

  static async open(path: string): Promise<ZipFile> {
    const handle = await inWords(open(path), path)
    try {
      return new ZipFile(path, handle, await directory(path, handle))
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

  /** The bytes of an entry, checked. */
  async read(name: string): Promise<Buffer> {
    const entry = this.#entries.get(name)
    if (!entry) throw broken(this.#path, `it has no ${name}`)
    const local = await bytesAt(this.#path, this.#handle, entry.offset, LOCAL_LENGTH)
    if (local.readUInt32LE(0) !== LOCAL_MARK) throw broken(this.#path, `${name} is not where it should be`)
    const start = entry.offset + LOCAL_LENGTH + local.readUInt16LE(26) + local.readUInt16LE(28)
    const packed = await bytesAt(this.#path, this.#handle, start, entry.packed)
    const data = await this.#unpack(name, entry, packed)
    if (data.length === entry.size && crc32(data) === entry.crc) return data
    throw broken(this.#path, `${name} is damaged`)
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

async function directory(path: string, handle: FileHandle): Promise<Map<string, Entry>> {
  const { size } = await handle.stat()
  const tailLength = Math.min(size, END_LENGTH + LONGEST_COMMENT)
  const tail = await bytesAt(path, handle, size - tailLength, tailLength)
  const end = lastEnd(tail)
  if (end === undefined) throw broken(path, 'the directory at its end is missing')
  const count = tail.readUInt16LE(end + 10)
  const list = await bytesAt(path, handle, tail.readUInt32LE(end + 16), tail.readUInt32LE(end + 12))
  const entries = new Map<string, Entry>()
  for (let i = 0, at = 0; i < count; i++) {
    if (at + ENTRY_LENGTH > list.length || list.readUInt32LE(at) !== ENTRY_MARK) {
      throw broken(path, 'its directory is damaged')
    }
    const next = at + ENTRY_LENGTH + list.readUInt16LE(at + 28)
    entries.set(list.toString('utf8', at + ENTRY_LENGTH, next), {
      method: list.readUInt16LE(at + 10),
      crc: list.readUInt32LE(at + 16),
      packed: list.readUInt32LE(at + 20),
      size: list.readUInt32LE(at + 24),
      offset: list.readUInt32LE(at + 42),
    })
    at = next + list.readUInt16LE(at + 30) + list.readUInt16LE(at + 32)
  }
  return entries
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
  if (position + length > size) throw broken(path, 'a part of it is missing')
  const { buffer, bytesRead } = await inWords(handle.read(Buffer.alloc(length), 0, length, position), path)
  if (bytesRead === length) return buffer
  throw broken(path, 'a part of it is missing')
}

function broken(path: string, why: string): TrinityError {
  return new TrinityError('file/zip', `${path} cannot be read as a zip file: ${why}`, { path })
}
