import type { FileHandle } from 'node:fs/promises'
import { TrinityError } from '../base/error.js'

/** Fills `target` from a position. A file may shrink after it was opened: a short read is an error and not a buffer of zeros. */
export async function readFully(
  handle: FileHandle,
  target: Uint8Array,
  position: number,
  path: string,
  code = 'safetensors/invalid',
): Promise<void> {
  for (let at = 0; at < target.byteLength; ) {
    const length = Math.min(target.byteLength - at, 1 << 30)
    const { bytesRead } = await handle.read(target, at, length, position + at)
    if (bytesRead === 0) {
      throw new TrinityError(code, `${path}: ended while it was being read`, {
        path,
        hint: 'nothing else may write to the file while it is read',
      })
    }
    at += bytesRead
  }
}
