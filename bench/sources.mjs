// The sources as one module, so that a benchmark needs no build.
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** Everything that these files of `src` export; the module is written into the folder. */
export async function loadSources(folder, files) {
  const { build } = await import('esbuild')
  const outfile = join(folder, 'sources.mjs')
  await build({
    stdin: {
      contents: files.map((file) => `export * from './src/${file}.ts'`).join('\n'),
      resolveDir: fileURLToPath(new URL('..', import.meta.url)),
    },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  })
  return import(pathToFileURL(outfile).href)
}
