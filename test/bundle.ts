import { mkdirSync, mkdtempSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/** Makes one JavaScript file of a TypeScript program, so that a test can start it as a process of its own. */
export async function bundle(entry: string): Promise<string> {
  // Inside node_modules, so that the packages it leaves outside are found.
  const cache = fileURLToPath(new URL('../node_modules/.cache/', import.meta.url))
  mkdirSync(cache, { recursive: true })
  const outfile = join(mkdtempSync(join(cache, 'bundle-')), basename(entry).replace(/\.ts$/, '.mjs'))
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
  })
  return outfile
}
