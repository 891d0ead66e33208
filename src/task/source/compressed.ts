import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import * as zlib from 'node:zlib'
import { messageOf, TrinityError } from '../../base/error.js'

export type Compression = 'gz' | 'zst'

/**
 * Decompresses a file beside the system's temporary files: rows are read by position, which a compressed stream cannot
 * offer. `release` removes the copy.
 */
export async function decompress(
  path: string,
  compression: Compression,
): Promise<{ path: string; release: () => Promise<void> }> {
  const transform = decompressor(path, compression)
  const dir = await mkdtemp(join(tmpdir(), 'trinity-data-'))
  const release = () => rm(dir, { recursive: true, force: true })
  try {
    const copy = join(dir, 'data')
    await pipeline(createReadStream(path), transform, createWriteStream(copy))
    return { path: copy, release }
  } catch (error) {
    await release()
    throw new TrinityError('data/malformed', `cannot decompress: ${messageOf(error)}`, { path, cause: error })
  }
}

function decompressor(path: string, compression: Compression): Transform {
  if (compression === 'gz') return zlib.createGunzip()
  // Zstandard came to Node in 22.15.
  const { createZstdDecompress } = zlib as unknown as { createZstdDecompress?: () => Transform }
  if (createZstdDecompress) return createZstdDecompress()
  throw new TrinityError('data/unsupported', `Node ${process.versions.node} cannot decompress Zstandard`, {
    path,
    hint: 'use Node 22.15 or newer, or decompress it first: zstd -d file.jsonl.zst',
  })
}
