const MAGIC = 0x184d2204
/** No block that LZ4 makes grows more than that. */
const MOST_GROWTH = 255

/** The content of an LZ4 frame, which is how Arrow compresses by default. Checksums are passed over. */
export function decodeLz4Frame(frame: Uint8Array): Uint8Array {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength)
  if (view.getUint32(0, true) !== MAGIC) throw new Error('not an LZ4 frame')
  const flags = view.getUint8(4)
  if (flags >> 6 !== 1) throw new Error('an LZ4 frame of an unknown version')
  const [blockChecksums, contentSize, dictionary] = [flags & 16, flags & 8, flags & 1]
  let at = 6 + (contentSize ? 8 : 0) + (dictionary ? 4 : 0) + 1
  const out = new Output(frame.length)
  for (;;) {
    const size = view.getUint32(at, true)
    at += 4
    if (size === 0) return out.bytes()
    const length = size & 0x7fffffff
    if (at + length > frame.length) throw new Error('the LZ4 frame ends early')
    const block = frame.subarray(at, at + length)
    // Blocks may refer to what the blocks before them gave, so all go to one place.
    if (size >>> 31) out.append(block)
    else decodeBlock(block, out)
    at += length + (blockChecksums ? 4 : 0)
  }
}

function decodeBlock(block: Uint8Array, out: Output): void {
  let at = 0
  const length = (short: number): number => {
    let sum = short
    for (let byte = short === 15 ? 255 : 0; byte === 255; sum += byte) {
      if (at >= block.length) throw new Error('the LZ4 block ends early')
      byte = block[at++]
    }
    return sum
  }
  while (at < block.length) {
    const token = block[at++]
    const literals = length(token >> 4)
    if (at + literals > block.length) throw new Error('the LZ4 block ends early')
    out.append(block.subarray(at, at + literals))
    at += literals
    // The last sequence has literals only.
    if (at >= block.length) return
    const offset = block[at] | (block[at + 1] << 8)
    at += 2
    out.repeat(offset, length(token & 15) + 4)
  }
}

/** Grows as it is written to; what was written can be repeated. */
class Output {
  #bytes: Uint8Array
  #length = 0
  readonly #most: number

  constructor(compressed: number) {
    this.#bytes = new Uint8Array(Math.max(64, compressed * 3))
    this.#most = compressed * MOST_GROWTH + 64
  }

  append(bytes: Uint8Array): void {
    this.#room(bytes.length)
    this.#bytes.set(bytes, this.#length)
    this.#length += bytes.length
  }

  repeat(offset: number, count: number): void {
    if (offset === 0 || offset > this.#length) throw new Error('an LZ4 block refers to nothing')
    this.#room(count)
    for (let i = 0; i < count; i++, this.#length++) this.#bytes[this.#length] = this.#bytes[this.#length - offset]
  }

  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  #room(count: number): void {
    const needed = this.#length + count
    if (needed <= this.#bytes.length) return
    if (needed > this.#most) throw new Error('an LZ4 block expands without end')
    const larger = new Uint8Array(Math.min(this.#most, Math.max(needed, this.#bytes.length * 2)))
    larger.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = larger
  }
}
