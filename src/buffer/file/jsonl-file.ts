import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { messageOf, TrinityError } from '../../base/error.js'
import { makeFolder } from '../../base/file/make-folder.js'
import { reading } from '../../base/file/system-error.js'
import type { Experience } from '../../experience/experience.js'
import { fromJsonLine, toJsonLine } from '../../experience/jsonl.js'

const CHUNK = 1 << 20
/** Lines turned into text before the event loop gets its turn again. */
const BREATH = 32

/** What a crash had left behind, and what was done about it. */
export interface Repair {
  path: string
  /** Bytes of an unfinished last line that were removed, or left out by a reader. */
  removedBytes: number
}

/** A JSONL file of experiences that is appended to and read by byte offset. It survives a crash in mid-line. */
export class JsonlFile {
  readonly path: string
  readonly repair?: Repair
  readonly #handle: FileHandle
  #size: number

  private constructor(path: string, handle: FileHandle, size: number, repair?: Repair) {
    this.path = path
    this.#handle = handle
    this.#size = size
    this.repair = repair
  }

  /** To write: creates the file and its folders when they are not there, and repairs what a crash has left. */
  static async open(path: string): Promise<JsonlFile> {
    checkName(path)
    await makeFolder(dirname(path))
    const handle = await open(path, 'a+')
    const { size } = await handle.stat()
    const end = await lastLineEnd(handle, size)
    if (end === size) return new JsonlFile(path, handle, size)
    if (await isWhole(handle, end, size)) {
      await handle.appendFile('\n')
      return new JsonlFile(path, handle, size + 1)
    }
    // The writer died inside this line, so nobody was told that it is stored.
    await handle.truncate(end)
    return new JsonlFile(path, handle, end, { path, removedBytes: size - end })
  }

  /** To read: leaves the file as it is, and an unfinished last line out. */
  static async openToRead(path: string): Promise<JsonlFile> {
    checkName(path)
    const handle = await reading(open(path, 'r'), path)
    try {
      const { size } = await handle.stat()
      const end = await reading(lastLineEnd(handle, size), path)
      if (end === size || (await isWhole(handle, end, size))) return new JsonlFile(path, handle, size)
      return new JsonlFile(path, handle, end, { path, removedBytes: size - end })
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  /** Where the next line will begin. */
  get end(): number {
    return this.#size
  }

  /** Gives the offset of each line. A write that fails leaves the file as it was. */
  async append(experiences: readonly Experience[]): Promise<number[]> {
    const lines: Buffer[] = []
    const offsets: number[] = []
    let at = this.#size
    for (let i = 0; i < experiences.length; i++) {
      const line = Buffer.from(toJsonLine(experiences[i]) + '\n')
      lines.push(line)
      offsets.push(at)
      at += line.length
      if (i % BREATH === BREATH - 1) await new Promise((resolve) => setImmediate(resolve))
    }
    try {
      await this.#handle.appendFile(Buffer.concat(lines))
    } catch (cause) {
      await this.#handle.truncate(this.#size).catch(() => {})
      throw new TrinityError('buffer/write', `cannot write to ${this.path}: ${messageOf(cause)}`, {
        path: this.path,
        cause,
      })
    }
    this.#size = at
    return offsets
  }

  /** The experiences whose lines begin at these offsets. */
  async read(offsets: readonly number[]): Promise<Experience[]> {
    const experiences: Experience[] = []
    for (const offset of offsets) {
      const where = `${this.path} at byte ${offset}`
      experiences.push(fromJsonLine((await this.#line(offset)).toString('utf8'), where))
    }
    return experiences
  }

  async #line(offset: number): Promise<Buffer> {
    const parts: Buffer[] = []
    for (let at = offset; ; ) {
      const chunk = Buffer.allocUnsafe(Math.min(1 << 15, Math.max(1, this.#size - at)))
      const { bytesRead } = await this.#handle.read(chunk, 0, chunk.length, at)
      const end = chunk.subarray(0, bytesRead).indexOf(10)
      parts.push(chunk.subarray(0, end >= 0 ? end : bytesRead))
      at += bytesRead
      if (end >= 0 || bytesRead === 0 || at >= this.#size) return Buffer.concat(parts)
    }
  }

  /** Offsets of the lines that hold something, from `from` on. */
  async offsets(from = 0): Promise<number[]> {
    const offsets: number[] = []
    const chunk = Buffer.allocUnsafe(CHUNK)
    let lineStart = from
    let blank = true
    for (let at = from; at < this.#size; ) {
      const { bytesRead } = await this.#handle.read(chunk, 0, Math.min(CHUNK, this.#size - at), at)
      if (bytesRead === 0) break
      for (let i = 0; i < bytesRead; ) {
        if (blank) {
          while (i < bytesRead && chunk[i] !== 10 && chunk[i] <= 32) i++
          if (i < bytesRead && chunk[i] !== 10) {
            offsets.push(lineStart)
            blank = false
          }
        }
        const newline = chunk.indexOf(10, i)
        if (newline < 0 || newline >= bytesRead) break
        i = newline + 1
        lineStart = at + i
        blank = true
      }
      at += bytesRead
    }
    return offsets
  }

  /** Removes everything from `end` on; gives the number of lines removed. */
  async truncate(end: number): Promise<number> {
    if (end > this.#size) {
      throw new TrinityError('buffer/cut', `${this.path} has ${this.#size} bytes, but the checkpoint saw ${end}`, {
        path: this.path,
        hint: 'the file was replaced or shortened after the checkpoint; delete the job folder to start over',
      })
    }
    const removed = (await this.offsets(end)).length
    await this.#handle.truncate(end)
    this.#size = end
    return removed
  }

  async flush(): Promise<void> {
    await this.#handle.datasync()
  }

  async close(): Promise<void> {
    await this.#handle.close()
  }
}

function checkName(path: string): void {
  if (/\.jsonl?$/.test(path)) return
  throw new TrinityError('buffer/path', `'${path}' does not end in .jsonl or .json`, {
    path,
    hint: 'experiences are kept in a .jsonl file or in a database (sqlite:///…, postgresql://…)',
  })
}

/** Whether a last line without a line break is a record all the same: files written by hand often end so. */
async function isWhole(handle: FileHandle, start: number, end: number): Promise<boolean> {
  const text = Buffer.allocUnsafe(end - start)
  await handle.read(text, 0, text.length, start)
  try {
    JSON.parse(text.toString('utf8'))
    return true
  } catch {
    return false
  }
}

/** Byte behind the last line break. */
async function lastLineEnd(handle: FileHandle, size: number): Promise<number> {
  const chunk = Buffer.allocUnsafe(1 << 16)
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - chunk.length)
    const { bytesRead } = await handle.read(chunk, 0, end - start, start)
    const newline = chunk.subarray(0, bytesRead).lastIndexOf(10)
    if (newline >= 0) return start + newline + 1
    end = start
  }
  return 0
}
