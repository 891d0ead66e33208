import { dirname, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Folders that plugins were loaded from. */
const folders = new Set<string>()

/** Remembers where plugins lie, so that what they do later can be told to be theirs. */
export function rememberPlugin(file: string): void {
  folders.add(dirname(file) + sep)
}

/** Folders that plugins were loaded from, in order. */
export function pluginFolders(): string[] {
  return [...folders]
}

const FRAME = /((?:file:\/\/)?\/?[^\s():]*(?::[\\/][^\s():]*)?\.m?[jt]s):(\d+)(?::(\d+))?/g

/** A message may hold anything, a whole answer of a model as well; a place is short, and does not stand far inside. */
const LONGEST_LINE = 2000

/** Where this package is, which may itself lie in a folder of plugins: from src/ and from dist/ the compiled half. */
const OWN = fileURLToPath(new URL('../../dist/', import.meta.url))

/** Whether a file is somebody's in this folder: not of a package that is installed there, and not of this one. */
function isOwnedIn(folder: string, path: string): boolean {
  return (
    path.startsWith(folder) && !/[\\/]node_modules[\\/]/.test(path.slice(folder.length - 1)) && !path.startsWith(OWN)
  )
}

/** File, line and column of the first place in a stack that lies in one of the folders, and in no package there. */
export function placeInStack(stack: string, inside: Iterable<string>): string | undefined {
  const all = [...inside]
  for (const text of stack.split('\n')) {
    for (const [, address, line, column] of text.slice(0, LONGEST_LINE).matchAll(FRAME)) {
      const path = address.startsWith('file:') ? fileURLToPath(address) : address
      if (all.some((folder) => isOwnedIn(folder, path))) return [path, line, column].filter(Boolean).join(':')
    }
  }
  return undefined
}

/** Where in a plugin something was thrown; undefined: not in one, as far as its stack says. */
export function pluginPlace(error: unknown): string | undefined {
  return error instanceof Error ? placeInStack(error.stack ?? '', folders) : undefined
}
