import { realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path'

/** A path without links in it, as far as there is anything under it. */
export async function realFolder(path: string): Promise<string> {
  const whole = resolve(path)
  const real = await realpath(whole).catch(() => undefined)
  if (real !== undefined || dirname(whole) === whole) return real ?? whole
  return join(await realFolder(dirname(whole)), basename(whole))
}

export function isInside(path: string, dir: string): boolean {
  const way = relative(resolve(dir), resolve(path))
  return way !== '' && way !== '..' && !/^\.\.[/\\]/.test(way) && !isAbsolute(way)
}
