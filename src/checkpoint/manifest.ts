import { createHash } from 'node:crypto'
import { open, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../base/error.js'
import { isJsonObject } from '../base/file/json-file.js'
import { filesBelow } from './durable.js'
import { MANIFEST } from './layout.js'

/** What `.full_checkpoint` says of the files of its folder. */
export interface Manifest {
  readonly version: 1
  readonly step: number
  readonly files: Readonly<Record<string, { readonly size: number; readonly sha256: string }>>
}

const BLOCK = 1 << 20
const MAX_BLOCKS = 64

export async function describe(dir: string, step: number): Promise<Manifest> {
  const files: Record<string, { size: number; sha256: string }> = {}
  for (const path of await filesBelow(dir)) {
    if (path !== MANIFEST) files[path] = await fingerprint(join(dir, path))
  }
  return { version: 1, step, files }
}

/** What is wrong with a checkpoint; undefined: it is complete and as it was written. */
export async function damage(dir: string, step: number): Promise<string | undefined> {
  const manifest = await readManifest(dir)
  if (typeof manifest === 'string') return manifest
  if (manifest.step !== step) return `it was written as step ${manifest.step}`
  for (const [path, { size, sha256 }] of Object.entries(manifest.files)) {
    const info = await stat(join(dir, path)).catch(() => undefined)
    if (!info?.isFile()) return `${path} is missing`
    if (info.size !== size) return `${path} has ${info.size} bytes instead of ${size}`
    if ((await fingerprint(join(dir, path))).sha256 !== sha256) return `the content of ${path} has changed`
  }
  return undefined
}

async function readManifest(dir: string): Promise<Manifest | string> {
  try {
    const value: unknown = JSON.parse(await readFile(join(dir, MANIFEST), 'utf8'))
    if (isJsonObject(value) && value.version === 1 && isJsonObject(value.files)) return value as unknown as Manifest
    return `${MANIFEST} was written by another release`
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    return missing ? `${MANIFEST} is missing` : `${MANIFEST} cannot be read: ${messageOf(error)}`
  }
}

/**
 * Size and hash. Of a file over 64 MiB only 64 blocks of one MiB are hashed, spread evenly and with both ends among
 * them: the check of a large checkpoint takes a moment instead of a minute.
 */
async function fingerprint(path: string): Promise<{ size: number; sha256: string }> {
  const handle = await open(path, 'r')
  try {
    const { size } = await handle.stat()
    const hash = createHash('sha256')
    const buffer = Buffer.allocUnsafe(Math.min(BLOCK, Math.max(1, size)))
    const blocks = Math.ceil(size / BLOCK)
    const taken = Math.min(blocks, MAX_BLOCKS)
    for (let i = 0; i < taken; i++) {
      const at = taken === blocks ? i * BLOCK : Math.round((i * (size - BLOCK)) / (taken - 1))
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, at)
      hash.update(buffer.subarray(0, bytesRead))
    }
    return { size, sha256: hash.digest('hex') }
  } finally {
    await handle.close()
  }
}
