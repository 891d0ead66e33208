// Compiles the native engine for this machine: no build system, no downloads, only a C++ compiler. Runs at `npm install`
// and by `npm run build:native`; does nothing when the sources have not changed, nor where an installed package brings
// the engine compiled. A missing compiler is no install failure: the engine says what to do when it is asked for.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fallback, findPrebuilt } from '../native/prebuilt.mjs'
import { build, compile, fingerprint, root, run, units } from './native-units.mjs'

const target = join(build, 'trinity.node')
const stamp = join(build, 'trinity.sha256')
const strict = process.argv.includes('--strict')

function fail(message) {
  const rest = findPrebuilt(root, fallback).path ? 'Until then the engine runs as WebAssembly, slower.' : ''
  process.stderr.write(`trinity: the native engine was not built: ${message} ${rest}\n`)
  process.exit(strict ? 1 : 0)
}

function findCompiler() {
  const candidates = process.env.CXX ? [process.env.CXX] : ['g++', 'clang++', 'c++']
  for (const name of candidates) {
    const asked = spawnSync(name, ['--version'], { encoding: 'utf8' })
    if (asked.status === 0) return { name, version: asked.stdout.split('\n')[0] }
  }
  return undefined
}

/** A package may be there and still not load: a system older than the one it is made for. */
function loads(path) {
  const code = 'require(process.argv[1])'
  return spawnSync(process.execPath, ['-e', code, path], { stdio: 'ignore' }).status === 0
}

async function link(compiler, list, output) {
  const shared =
    process.platform === 'darwin' ? ['-bundle', '-undefined', 'dynamic_lookup'] : ['-shared', '-Wl,-z,relro,-z,now']
  return run([compiler], [...shared, '-pthread', ...list.map((unit) => unit.object), '-o', output])
}

async function main() {
  if (process.env.TRINITY_SKIP_NATIVE) return
  if (!strict && !process.env.TRINITY_BUILD_NATIVE) {
    const { path } = findPrebuilt(root)
    if (path && loads(path)) return
  }
  if (process.platform === 'win32') return fail('on Windows it comes in a package only (see docs/native-engine.md)')
  const compiler = findCompiler()
  if (!compiler) {
    return fail(
      'no C++ compiler found. Install one (Debian/Ubuntu: apt install g++, Fedora: dnf install gcc-c++, ' +
        'macOS: xcode-select --install) and run `npm rebuild trinity-rft`. Everything else works without it.',
    )
  }
  const want = fingerprint([process.platform, process.arch, compiler.version])
  if (existsSync(target) && existsSync(stamp) && readFileSync(stamp, 'utf8') === want) return
  const started = Date.now()
  const objects = join(build, `objects-${process.pid}`)
  mkdirSync(objects, { recursive: true })
  try {
    const list = units(process.arch, objects)
    const failure = await compile([compiler.name], list)
    if (failure) return fail(`${compiler.version} could not compile ${failure}`)
    const output = join(objects, 'trinity.node')
    const linked = await link(compiler.name, list, output)
    if (linked.code !== 0) return fail(`linking failed\n${linked.text}`)
    // Renamed into place: a process that has the old one loaded keeps it.
    renameSync(output, target)
    writeFileSync(stamp, want)
    process.stdout.write(
      `trinity: native engine built with ${compiler.version} in ${((Date.now() - started) / 1000).toFixed(1)} s\n`,
    )
  } finally {
    rmSync(objects, { recursive: true, force: true })
  }
}

await main()
