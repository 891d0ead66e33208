// Builds the page of Studio: `node scripts/build-studio.mjs [folder]`, by default into dist/studio/page.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const source = join(root, 'studio')

/** @param {string} target a folder of its own: what was in it is deleted */
export async function buildStudio(target) {
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target, { recursive: true })
  await build({
    entryPoints: { main: join(source, 'main.tsx'), style: join(source, 'style', 'index.css') },
    outdir: target,
    bundle: true,
    // the editor is a part of its own, loaded when it is shown
    splitting: true,
    chunkNames: '[name]-[hash]',
    minify: true,
    format: 'esm',
    target: ['chrome115', 'firefox115', 'safari16.4'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    tsconfig: join(source, 'tsconfig.json'),
  })
  for (const file of ['index.html', 'icon.svg']) copyFileSync(join(source, file), join(target, file))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const target = process.argv[2] ?? join(root, 'dist', 'studio', 'page')
  await buildStudio(target)
  for (const file of readdirSync(target)) {
    const content = readFileSync(join(target, file))
    console.log(`${file}: ${content.length} bytes, ${gzipSync(content).length} gzipped`)
  }
}
