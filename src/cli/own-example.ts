import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const packageRoot = fileURLToPath(new URL('../../', import.meta.url))

/**
 * A path that is read, as somebody typed it. The docs name `examples/…`, which is there in a checkout; elsewhere it is taken from
 * this package.
 */
export function ownExample(path: string): string {
  if (!/^(\.\/)?examples\//.test(path) || existsSync(path)) return path
  const own = join(packageRoot, path)
  if (!existsSync(own)) return path
  const shown = relative(process.cwd(), own)
  const found = shown.startsWith('..') ? own : shown
  process.stderr.write(`note     ${path} is taken from the package: ${found}\n`)
  return found
}
