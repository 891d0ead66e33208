import { realpath } from 'node:fs/promises'
import { dirname, extname, join, relative, resolve, sep } from 'node:path'
import { TrinityError } from '../../base/error.js'
import type { Place } from '../api.js'

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
  const root = await realpath(folder)
  const file = resolve(root, path)
  if (!['.yaml', '.yml'].includes(extname(file))) {
    throw new TrinityError('studio/query', `'${path}' is no name for a configuration`, {
      path: 'path',
      hint: 'end it with .yaml',
    })
  }
  const real = await realPlace(file)
  if (!isIn(root, real)) throw outside(path)
  return real
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

function outside(path: string): TrinityError {
  return new TrinityError('studio/outside', `${path} is not below the folders of this Studio`, {
    path,
    hint: 'start Studio with that folder, or choose another place',
  })
}
