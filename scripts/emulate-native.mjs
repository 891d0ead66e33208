// Runs the native engine's golden, gradient and sampling tests where vitest does not run: on another processor or system, under an
// emulator. `node scripts/emulate-native.mjs ADDON COMMAND…`; COMMAND is a Node for that platform, as in
// `… native/build/prebuilt/linux-arm64/trinity.node qemu-aarch64 -L /usr/aarch64-linux-gnu path/of/node`.
// The tests are bundled into one file, with a small stand-in for vitest that runs them in order.
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { build as bundle } from 'esbuild'
import { build, root } from './native-units.mjs'

const [addon, ...command] = process.argv.slice(2)
if (!command.length) {
  console.error('usage: node scripts/emulate-native.mjs ADDON COMMAND…')
  process.exit(2)
}

const standIn = `
import { expect } from '@vitest/expect/stand-in'
const tests = []
let group = ''
const fill = (name, row) => [row].flat().reduce((text, value) => text.replace(/%[sd]/, value), name)
const each = (make) => (rows) => (name, body) => { for (const row of rows) make(fill(name, row), () => body(...[row].flat())) }
const test = (name, body) => void tests.push({ name: group + ' > ' + name, body })
const silent = () => {}
export const it = Object.assign(test, { each: each(test), skipIf: (skip) => (skip ? silent : test) })
const suite = (name, body) => { const outer = group; group = name; body(); group = outer }
export const describe = Object.assign(suite, { each: each(suite) })
export { expect }
export async function runAll() {
  let failed = 0
  for (const { name, body } of tests) {
    try { await body(); console.log('ok', name) } catch (error) { failed++; console.log('FAILED', name, error) }
  }
  console.log(tests.length - failed + ' passed, ' + failed + ' failed')
  process.exit(failed ? 1 : 0)
}
`
const chai = `
import * as chai from 'chai'
import { JestChaiExpect } from '@vitest/expect'
chai.use(JestChaiExpect)
export const expect = chai.expect
`
const entry = `
import { runAll } from 'vitest'
import { loadAddon } from './src/engine/native/addon.ts'
console.log(process.platform, process.arch, process.version, loadAddon().isa)
import './src/engine/native/golden.test.ts'
import './src/engine/native/gradient.test.ts'
import './src/engine/native/sampler/invariance.test.ts'
await runAll()
`
const modules = { vitest: standIn, '@vitest/expect/stand-in': chai }
const outfile = join(build, `emulated-${process.pid}.mjs`)

const plugin = {
  name: 'stand-in',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(vitest|@vitest\/expect\/stand-in)$/ }, ({ path }) => ({ path, namespace: 'stand-in' }))
    onLoad({ filter: /./, namespace: 'stand-in' }, ({ path }) => ({
      contents: modules[path],
      resolveDir: join(root, 'node_modules', 'vitest'),
    }))
    // Files are found from where each module lay, seen from the bundle: Windows calls the same place another name.
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const place = JSON.stringify(relative(build, path))
      const contents = readFileSync(path, 'utf8').replaceAll(
        'import.meta.url',
        `new URL(${place}, import.meta.url).href`,
      )
      return { contents, loader: 'ts' }
    })
  },
}

try {
  await bundle({
    stdin: { contents: entry, resolveDir: root, loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
    banner: {
      js: "import { createRequire as requirer } from 'node:module'; const require = requirer(import.meta.url);",
    },
    plugins: [plugin],
  })
  const env = { ...process.env, TRINITY_NATIVE_ADDON: addon }
  const { status, error } = spawnSync(command[0], [...command.slice(1), outfile], { stdio: 'inherit', env })
  if (error) console.error(String(error))
  process.exitCode = status ?? 1
} finally {
  rmSync(outfile, { force: true })
}
