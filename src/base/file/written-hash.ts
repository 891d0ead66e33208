import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type FileHash, hashFile, isFileHash } from './block-hash.js'
import { isJsonObject } from './json-file.js'

/** Far more files than a checkpoint has; the oldest is forgotten first, and then simply read. */
const KEPT = 4096
const known = new Map<string, { readonly hash: FileHash; readonly state: string }>()

/** Takes note of the hash of a file that was made while the file was written, so that it need not be read for it. */
export async function rememberHash(path: string, hash: FileHash): Promise<void> {
  const key = resolve(path)
  const state = await fileState(key)
  known.delete(key)
  // another size: not the file that was hashed
  if (state?.size !== hash.size) return
  known.set(key, { hash, state: state.text })
  if (known.size > KEPT) known.delete(known.keys().next().value as string)
}

/** The same of files that another program wrote below `dir`, by relative path, as it tells of them. */
export async function rememberHashes(dir: string, files: unknown): Promise<void> {
  for (const [path, hash] of isJsonObject(files) ? Object.entries(files) : []) {
    if (isFileHash(hash)) await rememberHash(join(dir, path), { size: hash.size, sha256: hash.sha256 })
  }
}

/** Size and hash of a file: as it was written, where that is known and nobody has touched it since, else as it is read. */
export async function takeHash(path: string): Promise<FileHash> {
  const key = resolve(path)
  const found = known.get(key)
  known.delete(key)
  return found && found.state === (await fileState(key))?.text ? found.hash : hashFile(path)
}

/** Changes with every change of a file's content; undefined: there is no such file. */
export async function fileState(path: string): Promise<{ size: number; text: string } | undefined> {
  const info = await stat(path, { bigint: true }).catch(() => undefined)
  if (!info?.isFile()) return undefined
  return { size: Number(info.size), text: [info.dev, info.ino, info.size, info.mtimeNs, info.ctimeNs].join(' ') }
}
