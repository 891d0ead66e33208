import type { FileHandle } from 'node:fs/promises'

/** Node aborts on a single read of 2 GiB or more. */
const AT_ONCE = 1 << 30

/** Exactly `length` bytes from a position of a file. */
export async function readAt(handle: FileHandle, start: number, length: number): Promise<Buffer<ArrayBuffer>> {
  const bytes = Buffer.alloc(length)
  for (let done = 0; done < length; ) {
    const { bytesRead } = await handle.read(bytes, done, Math.min(AT_ONCE, length - done), start + done)
    if (bytesRead === 0) throw new UnexpectedEnd()
    done += bytesRead
  }
  return bytes
}

export class UnexpectedEnd extends Error {
  constructor() {
    super('unexpected end of file')
  }
}
