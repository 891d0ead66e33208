// Builds dist/: one fresh compile of src/, then the command's entry as one file, so that it starts fast, and the page of Studio.
import { spawnSync } from 'node:child_process'
import { chmodSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { buildStudio } from './build-studio.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const target = join(root, 'dist')
// Made beside and renamed: a build that fails, or is stopped, leaves the last good one.
const fresh = join(root, `dist.${process.pid}.tmp`)
const entry = join(fresh, 'cli', 'main.js')
const remove = (path) => rmSync(path, { recursive: true, force: true })
process.on('exit', () => remove(fresh))

const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
const { status } = spawnSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json'), '--outDir', fresh], {
  stdio: 'inherit',
})
if (status !== 0) process.exit(1)

/** What a command loads when it runs stays outside: `trinity --help` reads one file. */
const lazy = {
  name: 'lazy',
  setup: ({ onResolve }) =>
    onResolve({ filter: /./ }, ({ kind, path }) => (kind === 'dynamic-import' ? { path, external: true } : undefined)),
}
await build({
  entryPoints: [entry],
  outfile: entry,
  allowOverwrite: true,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  plugins: [lazy],
})
chmodSync(entry, 0o755)
await buildStudio(join(fresh, 'studio', 'page'))
remove(target)
renameSync(fresh, target)
