import { readFileSync } from 'node:fs'
import { withoutTypes } from './syntax.js'

/**
 * Where a file beside `base` is loaded from by somebody else than this program's own loader, such as another thread: the
 * compiled file, or, where this program runs from its TypeScript source (its own tests), one compiled on the spot. Such
 * a file imports nothing but parts of Node and types.
 */
export function moduleUrl(name: string, base: string): URL {
  if (!base.endsWith('.ts')) return new URL(`./${name}.js`, base)
  const source = readFileSync(new URL(`./${name}.ts`, base), 'utf8')
  return new URL(`data:text/javascript,${encodeURIComponent(withoutTypes(source))}`)
}
