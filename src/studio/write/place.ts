import { realpath } from 'node:fs/promises'
import { dirname, extname, join, relative, resolve, sep } from 'node:path'
import { TrinityError } from '../../base/error.js'
import type { Place } from '../api.js'

/** Bytes: file systems take 255, and what is being written has a longer name. */
const LONGEST_NAME = 200
const LONGEST_PATH = 1000

/** A path without links, as far as it exists; the rest as it is. */
export async function realPlace(path: string): Promise<string> {
  const whole = resolve(path)
  for (let known = whole; ; known = dirname(known)) {
    const real = await realpath(known).catch(() => undefined)
    if (real !== undefined) return join(real, relative(known, whole))
    if (known === dirname(known)) return whole
  }
}

/** Whether something lies, or would lie, below one of the folders. */
export async function isBelow(folders: readonly string[], path: string): Promise<boolean> {
  const real = await realPlace(path)
  for (const folder of folders) {
    const root = await realpath(folder).catch(() => undefined)
    if (root !== undefined && isIn(root, real)) return true
  }
  return false
}

const isIn = (root: string, path: string) => path.startsWith(root.endsWith(sep) ? root : root + sep)

/** The file of a place: a YAML below the folder that it names, which is one of those that Studio was given. */
export async function fileAt(folders: readonly string[], { folder, path }: Place): Promise<string> {
  if (!folders.includes(folder)) throw outside(folder)
  checkName(path)
  const root = await realpath(folder)
  const file = resolve(root, path)
  const real = await realPlace(file)
  if (!isIn(root, real)) throw outside(path)
  return real
}

/** What no file can be called, said before the system says it in its own words. */
function checkName(path: string): void {
  const fault = (what: string, hint: string) => new TrinityError('studio/query', what, { path: 'path', hint })
  if (path.trim() === '') throw fault('the file needs a name', 'for example run.yaml')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(path)) throw fault('a file name has no control characters', 'type it anew')
  const long = path.split(/[/\\]/).find((part) => Buffer.byteLength(part) > LONGEST_NAME)
  if (long !== undefined) {
    throw fault(`'${long.slice(0, 40)}…' is too long for a file name`, `${LONGEST_NAME} letters are the most`)
  }
  if (path.length > LONGEST_PATH) throw fault('the path is too long', `${LONGEST_PATH} letters are the most`)
  if (!['.yaml', '.yml'].includes(extname(path))) {
    throw fault(`'${path}' is no name for a configuration`, 'give it a name that ends with .yaml')
  }
}

/** Where a file lies below the folders. */
export async function placeOf(folders: readonly string[], file: string): Promise<Place | undefined> {
  const real = await realpath(file).catch(() => undefined)
  for (const folder of folders) {
    const root = await realpath(folder).catch(() => undefined)
    if (real && root && isIn(root, real)) return { folder, path: relative(root, real) }
  }
  return undefined
}

export function outside(path: string): TrinityError {
  return new TrinityError('studio/outside', `${path} is not below the folders of this Studio`, {
    path,
    hint: 'start Studio with that folder, or choose another place',
  })
}
