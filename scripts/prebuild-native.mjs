// Compiles the native engine for every platform that has a package, all on one Linux machine: zig brings the compiler,
// the C libraries and the linkers. `node scripts/prebuild-native.mjs [platform …]` puts
// native/build/prebuilt/<platform>/trinity.node. The first run compiles zig's C++ library for each platform (minutes).
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { platforms } from '../native/prebuilt.mjs'
import { build, compile, fingerprint, nodeApi, run, units } from './native-units.mjs'

export const zigVersion = '0.17.0'

/** The oldest systems that Node 20 runs on. */
const targets = {
  'linux-x64': 'x86_64-linux-gnu.2.28',
  'linux-x64-musl': 'x86_64-linux-musl',
  'linux-arm64': 'aarch64-linux-gnu.2.28',
  'linux-arm64-musl': 'aarch64-linux-musl',
  'darwin-arm64': 'aarch64-macos.11.0',
  'darwin-x64': 'x86_64-macos.11.0',
  'win32-x64': 'x86_64-windows-gnu',
}

/** Where the engine of a platform is put. */
export function prebuiltAddon(platform) {
  return join(build, 'prebuilt', platform, 'trinity.node')
}

/** `ZIG`, or the one of the Python package, in a virtual environment of its own. */
export function findZig() {
  if (process.env.ZIG) return [process.env.ZIG]
  const venv = join(build, 'zig')
  const python = join(venv, 'bin', 'python')
  if (!existsSync(join(venv, zigVersion))) {
    execFileSync('python3', ['-m', 'venv', venv], { stdio: 'inherit' })
    execFileSync(python, ['-m', 'pip', 'install', '--quiet', `ziglang==${zigVersion}`], { stdio: 'inherit' })
    writeFileSync(join(venv, zigVersion), '')
  }
  return [python, '-m', 'ziglang']
}

/** What compiles C++ for a platform. */
export function compilerFor(platform, zig = findZig()) {
  return [...zig, 'c++', '-target', targets[platform]]
}

export function succeed(what, { code, text }) {
  if (code !== 0) throw new Error(`${what} failed\n${text}`)
}

/** What makes a library that Node loads: its own functions are found in the process, on Windows through a list of them. */
async function linkArgs(zig, os, objects) {
  // Zig's linker takes no bundles, and Node loads a library as well. A library has a name: no path of this machine.
  if (os === 'darwin') return ['-shared', '-Wl,-undefined,dynamic_lookup', '-Wl,-install_name,@rpath/trinity.node']
  if (os === 'linux') {
    const visible = join(objects, 'visible.map')
    writeFileSync(visible, '{ global: napi_register_module_v1; node_api_module_get_api_version_v1; local: *; };\n')
    return ['-shared', '-Wl,-z,relro,-z,now', `-Wl,--version-script=${visible}`]
  }
  const library = join(objects, 'node.lib')
  const made = await run(zig, ['dlltool', '-m', 'i386:x86-64', '-d', nodeApi().definitions, '-l', library])
  succeed('the import library of Node', made)
  return ['-shared', library]
}

async function prebuild(zig, platform) {
  const { os, cpu } = platforms[platform]
  const output = prebuiltAddon(platform)
  const stamp = `${output}.sha256`
  const want = fingerprint([zigVersion, targets[platform], readFileSync(new URL(import.meta.url), 'utf8')])
  if (existsSync(output) && existsSync(stamp) && readFileSync(stamp, 'utf8') === want) return
  const objects = join(build, `objects-${platform}-${process.pid}`)
  mkdirSync(objects, { recursive: true })
  mkdirSync(join(output, '..'), { recursive: true })
  try {
    const compiler = compilerFor(platform, zig)
    const list = units(cpu, objects)
    const failure = await compile(compiler, list)
    if (failure) throw new Error(`${failure} could not be compiled for ${platform}`)
    const made = join(objects, 'trinity.node')
    const args = [...(await linkArgs(zig, os, objects)), '-s', '-O2', ...list.map((unit) => unit.object), '-o', made]
    succeed(`linking for ${platform}`, await run(compiler, args))
    renameSync(made, output)
    writeFileSync(stamp, want)
  } finally {
    rmSync(objects, { recursive: true, force: true })
  }
}

/** Compiles the engine for some platforms, or for all. */
export async function prebuildAll(names = Object.keys(platforms)) {
  const unknown = names.find((name) => !(name in targets))
  if (unknown) throw new Error(`no platform ${unknown}: ${Object.keys(targets).join(', ')}`)
  const zig = findZig()
  for (const platform of names) {
    const started = Date.now()
    await prebuild(zig, platform)
    const size = (statSync(prebuiltAddon(platform)).size / 1e3).toFixed(0)
    console.log(`${platform}: ${size} kB, ${((Date.now() - started) / 1000).toFixed(1)} s`)
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  await prebuildAll(process.argv.length > 2 ? process.argv.slice(2) : undefined)
}
