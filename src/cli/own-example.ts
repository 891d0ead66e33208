import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { shortPath } from '../base/file/short-path.js'
import { PACKAGE_ROOT } from '../base/package-root.js'

/**
 * A path that is read, as somebody typed it. The docs name `examples/…`, which is there in a checkout; elsewhere it is taken from
 * this package.
 */
export function ownExample(path: string): string {
  if (!/^(\.\/)?examples\//.test(path) || existsSync(path)) return path
  const own = join(PACKAGE_ROOT, path)
  if (!existsSync(own)) return path
  const found = shortPath(own)
  process.stderr.write(`note     ${path} is taken from the package: ${found}\n`)
  return found
}
