import { existsSync } from 'node:fs'
import { readFile, realpath } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/** The built page beside the compiled server. */
export const PAGE = fileURLToPath(new URL('./page/', import.meta.url))

export function hasPage(dir = PAGE): boolean {
  return existsSync(join(dir, 'index.html'))
}

export interface PageFile {
  readonly type: string
  readonly body: Buffer
}

/**
 * A file of the page. Addresses of views are the page's own business: what has no extension is the page itself.
 * Undefined: there is none.
 */
export async function pageFile(path: string, dir = PAGE): Promise<PageFile | undefined> {
  const name = extname(path) === '' ? 'index.html' : path.slice(1)
  const type = TYPES[extname(name)]
  if (type === undefined) return undefined
  try {
    const [file, root] = await Promise.all([realpath(join(dir, name)), realpath(dir)])
    return file.startsWith(root + sep) ? { type, body: await readFile(file) } : undefined
  } catch {
    return undefined
  }
}
