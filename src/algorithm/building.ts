import { fileURLToPath } from 'node:url'
import { messageOf, TrinityError } from '../base/error.js'

/**
 * Runs the function that writes a formula down. What it throws comes out with the name of the part and the line of the
 * file that wrote it, which may be a plugin's.
 */
export function building<T>(what: string, name: string, key: string, build: () => T): T {
  try {
    return build()
  } catch (error) {
    const known = error instanceof TrinityError ? error : undefined
    throw new TrinityError(known?.code ?? 'algorithm/bad-formula', `${what} '${name}': ${messageOf(error)}`, {
      path: lineOf(error) ?? key,
      key,
      hint: known?.hint,
      cause: error,
    })
  }
}

/** Files that only carry out what a formula asks for. */
const CARRIERS = [
  '../graph/',
  ...['aggregate', 'building', 'column-places', 'loss'].flatMap((name) => [`./${name}.js`, `./${name}.ts`]),
].map((path) => fileURLToPath(new URL(path, import.meta.url)))

/** The innermost line of the stack that is not one of those: file:line:column. */
export function lineOf(error: unknown): string | undefined {
  const stack = (error instanceof Error && error.stack) || ''
  for (const [, place] of stack.matchAll(/^\s+at .*?((?:file:\/\/)?[^\s()]+\.[mc]?[jt]s:\d+:\d+)\)?$/gm)) {
    const path = place.startsWith('file:') ? fileURLToPath(place) : place
    if (!CARRIERS.some((carrier) => path.startsWith(carrier))) return path
  }
  return undefined
}
