import { TrinityError } from '../../base/error.js'

/**
 * Frames between Trinity and a worker: four bytes of length, little endian, then JSON. The other half is
 * python/trinity_world/frames.py.
 */

const PREFIX = 4
/** The most bytes of one frame. */
export const MAX_FRAME = 64 * 2 ** 20

/** Texts of JSON as one frame that holds them as a list. */
export function encodeFrame(items: readonly string[]): Buffer {
  const text = `[${items.join(',')}]`
  const length = Buffer.byteLength(text)
  if (length > MAX_FRAME) throw tooLong(length)
  const frame = Buffer.allocUnsafe(PREFIX + length)
  frame.writeUInt32LE(length, 0)
  frame.write(text, PREFIX)
  return frame
}

/** Cuts a byte stream into frames. */
export class FrameReader {
  readonly #prefix = Buffer.alloc(PREFIX)
  #target = this.#prefix
  #filled = 0

  /** Takes the next bytes of the stream and gives the lists that they complete. Throws on anything off. */
  push(chunk: Uint8Array): unknown[][] {
    const lists: unknown[][] = []
    let at = 0
    while (at < chunk.length) {
      const count = Math.min(this.#target.length - this.#filled, chunk.length - at)
      this.#target.set(chunk.subarray(at, at + count), this.#filled)
      this.#filled += count
      at += count
      if (this.#filled < this.#target.length) break
      this.#filled = 0
      if (this.#target === this.#prefix) this.#target = Buffer.allocUnsafe(lengthOf(this.#prefix))
      else {
        lists.push(listOf(this.#target))
        this.#target = this.#prefix
      }
    }
    return lists
  }
}

function lengthOf(prefix: Buffer): number {
  const length = prefix.readUInt32LE(0)
  if (length > MAX_FRAME) throw tooLong(length)
  // the shortest list is []
  if (length < 2) throw bad(`a frame of ${length} bytes`)
  return length
}

function listOf(text: Buffer): unknown[] {
  let list: unknown
  try {
    list = JSON.parse(text.toString())
  } catch (error) {
    throw bad('a frame is not JSON', error)
  }
  if (!Array.isArray(list)) throw bad('a frame holds no list')
  return list
}

function tooLong(length: number): TrinityError {
  return bad(`a frame of ${length} bytes; the most is ${MAX_FRAME}`)
}

function bad(what: string, cause?: unknown): TrinityError {
  return new TrinityError('environment/frame', `the stream of a Python worker is broken: ${what}`, { cause })
}
