import { isAbsolute, relative } from 'node:path'

/** A path as a person would type it: from this folder where the file is below it, otherwise whole. */
export function shortPath(path: string, cwd: string = process.cwd()): string {
  const below = relative(cwd, path)
  return below === '' || below.startsWith('..') || isAbsolute(below) ? path : below
}
