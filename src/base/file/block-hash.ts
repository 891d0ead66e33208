import { createHash, webcrypto } from 'node:crypto'
import { open } from 'node:fs/promises'
import { isJsonObject } from './json-file.js'

/** How a file is known again: every byte of it counts. */
export interface FileHash {
  readonly size: number
  /** Of the content where that is one block at most; else of the SHA-256s of its blocks, in order. */
  readonly sha256: string
}

export function isFileHash(value: unknown): value is FileHash {
  return isJsonObject(value) && Number.isInteger(value.size) && typeof value.sha256 === 'string'
}

export const BLOCK = 4 << 20
/** Blocks that are being hashed at one time: what is in memory of a file of any size. */
const AT_ONCE = 4

/**
 * SHA-256 of a stream, cut into blocks: they are hashed by other threads, several at a time, so that neither one core nor
 * this thread bounds the speed. python/trinity_torch/block_hash.py does the same.
 */
export class BlockHash {
  #part: Buffer | undefined
  #filled = 0
  #size = 0
  readonly #blocks: Promise<ArrayBuffer>[] = []

  /** Takes the next bytes; they may change as soon as it has returned. To be awaited: it holds back who is too fast. */
  async update(bytes: Uint8Array): Promise<void> {
    this.#size += bytes.byteLength
    for (let at = 0; at < bytes.byteLength; ) {
      if (this.#filled === 0 && bytes.byteLength - at >= BLOCK && !(bytes.buffer instanceof SharedArrayBuffer)) {
        this.#add(bytes.subarray(at, at + BLOCK))
        at += BLOCK
      } else {
        this.#part ??= Buffer.allocUnsafe(BLOCK)
        const count = Math.min(BLOCK - this.#filled, bytes.byteLength - at)
        this.#part.set(bytes.subarray(at, at + count), this.#filled)
        this.#filled += count
        at += count
        if (this.#filled === BLOCK) this.#close()
      }
      const ahead = this.#blocks.length - AT_ONCE
      if (ahead >= 0) await this.#blocks[ahead]
    }
  }

  async digest(): Promise<FileHash> {
    if (this.#filled > 0 || this.#size === 0) this.#close()
    const blocks = (await Promise.all(this.#blocks)).map((one) => Buffer.from(one))
    const top = blocks.length === 1 ? blocks[0] : createHash('sha256').update(Buffer.concat(blocks)).digest()
    return { size: this.#size, sha256: top.toString('hex') }
  }

  #close(): void {
    this.#add(this.#part?.subarray(0, this.#filled) ?? new Uint8Array(0))
    this.#filled = 0
  }

  /** The bytes are copied before this returns: Web Cryptography says so. */
  #add(bytes: Uint8Array): void {
    const block = webcrypto.subtle.digest('SHA-256', bytes)
    // awaited later, by whoever asks for the digest
    block.catch(() => {})
    this.#blocks.push(block)
  }
}

/** Reads the file once, in blocks, while those before are hashed. */
export async function hashFile(path: string): Promise<FileHash> {
  const handle = await open(path, 'r')
  try {
    const { size } = await handle.stat()
    const buffer = Buffer.allocUnsafe(Math.min(BLOCK, Math.max(1, size)))
    const hash = new BlockHash()
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, null)
      if (bytesRead === 0) return await hash.digest()
      await hash.update(buffer.subarray(0, bytesRead))
    }
  } finally {
    await handle.close()
  }
}
