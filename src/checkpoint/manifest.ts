import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../base/error.js'
import { type FileHash, hashFile, isFileHash } from '../base/file/block-hash.js'
import { isJsonObject } from '../base/file/json-file.js'
import { fileState, takeHash } from '../base/file/written-hash.js'
import { filesBelow } from './durable.js'
import { MANIFEST } from './layout.js'
import { sampledHash } from './manifest-v1.js'

/** What `.full_checkpoint` says of the files of its folder. */
export interface Manifest {
  /** 1: hashes of large files are those of samples. */
  readonly version: 1 | 2
  readonly step: number
  readonly files: Readonly<Record<string, FileHash>>
}

/** Files that whoever wrote them has hashed meanwhile are not read again. */
export async function describe(dir: string, step: number): Promise<Manifest> {
  const files: Record<string, FileHash> = {}
  for (const path of await filesBelow(dir)) {
    if (path !== MANIFEST) files[path] = await takeHash(join(dir, path))
  }
  return { version: 2, step, files }
}

/** Checkpoints that were found whole, with the state that their files were in: they need not be read again. */
export type Verified = Map<string, string>

/** What is wrong with a checkpoint; undefined: it is complete and as it was written. Sizes are looked at first. */
export async function damage(dir: string, step: number, verified: Verified = new Map()): Promise<string | undefined> {
  const manifest = await readManifest(dir)
  if (typeof manifest === 'string') return manifest
  if (manifest.step !== step) return `it was written as step ${manifest.step}`
  const files = Object.entries(manifest.files)
  const states: string[] = []
  for (const [path, { size, sha256 }] of files) {
    const state = await fileState(join(dir, path))
    if (!state) return `${path} is missing`
    if (state.size !== size) return `${path} has ${state.size} bytes instead of ${size}`
    states.push(`${sha256} ${state.text}`)
  }
  const state = states.join('\n')
  if (verified.get(dir) === state) return undefined
  for (const [path, { sha256 }] of files) {
    const found =
      manifest.version === 1 ? sampledHash(join(dir, path)) : hashFile(join(dir, path)).then((h) => h.sha256)
    const wrong = await found.then(
      (hash) => (hash === sha256 ? undefined : `the content of ${path} has changed`),
      (error) => `${path} cannot be read: ${messageOf(error)}`,
    )
    if (wrong !== undefined) return wrong
  }
  verified.set(dir, state)
  return undefined
}

async function readManifest(dir: string): Promise<Manifest | string> {
  try {
    const value: unknown = JSON.parse(await readFile(join(dir, MANIFEST), 'utf8'))
    if (!isJsonObject(value) || !(value.version === 1 || value.version === 2)) {
      return `${MANIFEST} was written by another release`
    }
    const { files } = value
    if (isJsonObject(files) && Object.values(files).every(isFileHash)) return value as unknown as Manifest
    return `${MANIFEST} is not a list of files`
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    return missing ? `${MANIFEST} is missing` : `${MANIFEST} cannot be read: ${messageOf(error)}`
  }
}
