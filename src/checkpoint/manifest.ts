import { readFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { messageOf } from '../base/error.js'
import { type FileHash, hashFile, isFileHash } from '../base/file/block-hash.js'
import { isJsonObject, readJsonObject } from '../base/file/json-file.js'
import { fileState, takeHash } from '../base/file/written-hash.js'
import { parseJsonText } from '../base/json-text.js'
import { filesBelow } from './durable.js'
import { MANIFEST, STATE, WEIGHTS, WRITTEN } from './layout.js'
import { sampledHash } from './manifest-v1.js'

/** What `.full_checkpoint`, or `.written.json` beside weights alone, says of the files of its folder. */
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
    if (path !== MANIFEST && path !== WRITTEN) files[path] = await takeHash(join(dir, path))
  }
  return { version: 2, step, files }
}

/** Folders that were found whole, with the state that their files were in: they need not be read again. */
export type Verified = Map<string, string>

/** What is wrong with a checkpoint; undefined: it is complete and as it was written. Sizes are looked at first. */
export async function damage(dir: string, step: number, verified: Verified = new Map()): Promise<string | undefined> {
  const manifest = await readList(dir, MANIFEST)
  if (typeof manifest === 'string') return manifest
  if (manifest.step !== step) return `it was written as step ${manifest.step}`
  const paths = Object.keys(manifest.files)
  if (!paths.includes(STATE)) return `${MANIFEST} does not name ${STATE}`
  if (!paths.some((path) => path.startsWith('actor/'))) return `${MANIFEST} names no file of the actor`
  return (await unlisted(dir, paths)) ?? changed(dir, manifest, verified)
}

/** The same of the weights alone, in a full checkpoint or beside one. Only what a sampler loads is read. */
export async function weightDamage(
  dir: string,
  step: number,
  verified: Verified = new Map(),
): Promise<string | undefined> {
  const full = await readList(dir, MANIFEST)
  const bare = full === missing(MANIFEST) ? await bareList(dir) : undefined
  if (bare) return firstAbsent(dir, bare)
  const list = full === missing(MANIFEST) ? await readList(dir, WRITTEN) : full
  if (typeof list === 'string') return list
  if (list.step !== step) return `it was written as step ${list.step}`
  const files = Object.entries(list.files).filter(([path]) => path.startsWith(`${WEIGHTS}/`))
  if (files.length === 0) return 'its list names no file of the weights'
  const weights = { ...list, files: Object.fromEntries(files) }
  return (await unlisted(join(dir, WEIGHTS), Object.keys(weights.files).map(below))) ?? changed(dir, weights, verified)
}

const below = (path: string): string => path.slice(WEIGHTS.length + 1)

/** Whoever loads a folder finds such files by their names, whether they are listed or not. */
const LOADED =
  /(\.safetensors|\.index\.json)$|^(config|generation_config|adapter_config|tokenizer|tokenizer_config|native_state)\.json$/

async function unlisted(dir: string, paths: readonly string[]): Promise<string | undefined> {
  const [listed, folders] = [new Set(paths), new Set(paths.map((path) => posix.dirname(path)))]
  const found = await filesBelow(dir).catch(() => [])
  const extra = found.find(
    (path) => !listed.has(path) && folders.has(posix.dirname(path)) && LOADED.test(posix.basename(path)),
  )
  return extra === undefined ? undefined : `${extra} is there and not in its list`
}

async function changed(dir: string, manifest: Manifest, verified: Verified): Promise<string | undefined> {
  const files = Object.entries(manifest.files)
  const states: string[] = []
  for (const [path, { size, sha256 }] of files) {
    const state = await fileState(join(dir, path))
    if (!state) return missing(path)
    if (state.size !== size) return `${path} has ${state.size} bytes instead of ${size}`
    states.push(`${path} ${sha256} ${state.text}`)
  }
  const known = new Set(verified.get(dir)?.split('\n'))
  if (states.every((state) => known.has(state))) return undefined
  for (const [path, { sha256 }] of files) {
    const found =
      manifest.version === 1 ? sampledHash(join(dir, path)) : hashFile(join(dir, path)).then((h) => h.sha256)
    const wrong = await found.then(
      (hash) => (hash === sha256 ? undefined : `the content of ${path} has changed`),
      (error) => `${path} cannot be read: ${messageOf(error)}`,
    )
    if (wrong !== undefined) return wrong
  }
  verified.set(dir, states.join('\n'))
  return undefined
}

const missing = (name: string): string => `${name} is missing`

/** Weights of an earlier release say only which files there are. */
async function bareList(dir: string): Promise<string[] | undefined> {
  const files = (await readJsonObject(join(dir, WRITTEN)).catch(() => undefined))?.files
  return Array.isArray(files) && files.length > 0 ? files.map(String) : undefined
}

async function firstAbsent(dir: string, paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) if (!(await fileState(join(dir, path)))) return missing(path)
  return undefined
}

async function readList(dir: string, name: string): Promise<Manifest | string> {
  try {
    const value: unknown = parseJsonText(await readFile(join(dir, name), 'utf8'))
    if (!isJsonObject(value) || !(value.version === 1 || value.version === 2)) {
      return `${name} was written by another release`
    }
    const { files } = value
    if (Number.isSafeInteger(value.step) && isJsonObject(files) && Object.values(files).every(isFileHash))
      return value as unknown as Manifest
    return `${name} is not a list of files`
  } catch (error) {
    const absent = (error as NodeJS.ErrnoException).code === 'ENOENT'
    return absent ? missing(name) : `${name} cannot be read: ${messageOf(error)}`
  }
}
