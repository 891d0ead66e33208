import { type FileHandle, open } from 'node:fs/promises'
import { TrinityError } from '../../base/error.js'
import { readAt, UnexpectedEnd } from './read-at.js'

const CHUNK = 1 << 20

/** Finds where records begin. Fed the file chunk by chunk; keeps whatever state it needs between two chunks. */
export interface RecordScanner {
  /** Reports the start of each record in `chunk`, which begins at byte `at` of the file. */
  scan(chunk: Buffer, at: number, found: (start: number) => void): void
  /** Called once at the end; throws when the file stops inside a record. */
  finish?(file: string): void
}

/**
 * A text file and the byte offset of each of its records: eight bytes of memory per record, whatever its size,
 * and one read per record asked for.
 */
export class OffsetFile {
  readonly path: string
  readonly #handle: FileHandle
  readonly #starts: Float64Array
  readonly #size: number

  private constructor(path: string, handle: FileHandle, starts: Float64Array, size: number) {
    this.path = path
    this.#handle = handle
    this.#starts = starts
    this.#size = size
  }

  /** `onDisk`: the file to read when it is not `path` itself (a decompressed copy). */
  static async open(path: string, scanner: RecordScanner, onDisk: string = path): Promise<OffsetFile> {
    const handle = await open(onDisk, 'r')
    try {
      const chunk = Buffer.allocUnsafe(CHUNK)
      const starts = new OffsetList()
      let at = 0
      for (;;) {
        const { bytesRead } = await handle.read(chunk, 0, CHUNK, at)
        if (bytesRead === 0) break
        const mark = at === 0 && bytesRead >= 3 && chunk.readUIntBE(0, 3) === 0xefbbbf ? 3 : 0
        scanner.scan(chunk.subarray(mark, bytesRead), at + mark, (start) => starts.push(start))
        at += bytesRead
      }
      scanner.finish?.(path)
      return new OffsetFile(path, handle, starts.toArray(), at)
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  get length(): number {
    return this.#starts.length
  }

  async record(index: number): Promise<Buffer> {
    return this.#read(index, index + 1)
  }

  /** Consecutive records, read a megabyte at a time. */
  async *records(from = 0): AsyncIterable<Buffer> {
    for (let first = from; first < this.length; ) {
      let end = first + 1
      while (end < this.length && this.#start(end + 1) - this.#start(first) <= CHUNK) end++
      const block = await this.#read(first, end)
      const base = this.#start(first)
      for (; first < end; first++) yield block.subarray(this.#start(first) - base, this.#start(first + 1) - base)
    }
  }

  /** Line (from 1) on which a record begins; counted only when a message needs it. */
  async line(index: number): Promise<number> {
    const chunk = Buffer.allocUnsafe(CHUNK)
    const end = this.#start(index)
    let line = 1
    for (let at = 0; at < end; ) {
      const { bytesRead } = await this.#handle.read(chunk, 0, Math.min(CHUNK, end - at), at)
      if (bytesRead === 0) break
      const part = chunk.subarray(0, bytesRead)
      for (let i = part.indexOf(10); i >= 0; i = part.indexOf(10, i + 1)) line++
      at += bytesRead
    }
    return line
  }

  close(): Promise<void> {
    return this.#handle.close()
  }

  #start(index: number): number {
    return index < this.#starts.length ? this.#starts[index] : this.#size
  }

  async #read(from: number, to: number): Promise<Buffer> {
    const start = this.#start(from)
    try {
      return await readAt(this.#handle, start, this.#start(to) - start)
    } catch (error) {
      if (!(error instanceof UnexpectedEnd)) throw error
      throw new TrinityError('data/changed', `${this.path} became shorter while it was being read`, {
        path: this.path,
        hint: 'data files must not change during a run; start again',
        cause: error,
      })
    }
  }
}

/** A growing list of numbers without boxing. */
class OffsetList {
  #items = new Float64Array(1024)
  #length = 0

  push(item: number): void {
    if (this.#length === this.#items.length) {
      const larger = new Float64Array(this.#length * 2)
      larger.set(this.#items)
      this.#items = larger
    }
    this.#items[this.#length++] = item
  }

  toArray(): Float64Array {
    return this.#items.slice(0, this.#length)
  }
}
