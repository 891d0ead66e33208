import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import * as zlib from 'node:zlib'
import { Decompress } from 'fzstd'
import { messageOf, TrinityError } from '../../base/error.js'
import { systemError, unreadable } from '../../base/file/system-error.js'

export type Compression = 'gz' | 'zst'

/** A decompressed copy of a file; `release` removes it. */
export interface Copy {
  path: string
  release: () => Promise<void>
}

/**
 * Decompresses a file beside the system's temporary files: rows are read by position, which a compressed stream cannot
 * offer.
 */
export async function decompress(path: string, compression: Compression): Promise<Copy> {
  const dir = await mkdtemp(join(tmpdir(), 'trinity-data-'))
  const release = () => rm(dir, { recursive: true, force: true })
  try {
    const copy = join(dir, 'data')
    await pipeline(createReadStream(path), decompressor(compression), createWriteStream(copy))
    return { path: copy, release }
  } catch (error) {
    await release()
    const { path: file, code } = error as NodeJS.ErrnoException
    if (file === path) throw unreadable(path, error, 'data/unreadable')
    if (code === 'ENOSPC') throw systemError(error, dir)
    throw new TrinityError('data/malformed', `cannot decompress: ${messageOf(error)}`, { path, cause: error })
  }
}

function decompressor(compression: Compression): Transform {
  if (compression === 'gz') return zlib.createGunzip()
  // Zstandard came to Node in 22.15; what reads it before is slower.
  const { createZstdDecompress } = zlib as unknown as { createZstdDecompress?: () => Transform }
  return createZstdDecompress?.() ?? zstandard()
}

function zstandard(): Transform {
  const decoder = new Decompress((chunk) => void transform.push(chunk))
  const transform = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      attempt(() => decoder.push(chunk), done)
    },
    flush(done) {
      attempt(() => decoder.push(new Uint8Array(0), true), done)
    },
  })
  return transform
}

function attempt(work: () => void, done: (error?: Error) => void): void {
  try {
    work()
    done()
  } catch (error) {
    done(error as Error)
  }
}
