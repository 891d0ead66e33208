// The package that brings the native engine compiled for this machine. Plain JavaScript beside the sources, because the
// installation asks before anything is built; the engine and `trinity doctor` ask the same.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

/** Platforms that have a package: `@trinity-rft/native-<name>`. `os`, `cpu` and `libc` are what package managers go by. */
export const platforms = {
  'linux-x64': { os: 'linux', cpu: 'x64', libc: 'glibc' },
  'linux-x64-musl': { os: 'linux', cpu: 'x64', libc: 'musl' },
  'linux-arm64': { os: 'linux', cpu: 'arm64', libc: 'glibc' },
  'linux-arm64-musl': { os: 'linux', cpu: 'arm64', libc: 'musl' },
  'darwin-arm64': { os: 'darwin', cpu: 'arm64' },
  'darwin-x64': { os: 'darwin', cpu: 'x64' },
  'win32-x64': { os: 'win32', cpu: 'x64' },
}

/** The package for every other platform: the engine as WebAssembly. It names no system, so all get it (0.15 MB). */
export const fallback = 'wasm32'

export function packageName(platform) {
  return `@trinity-rft/native-${platform}`
}

/** The C library of this process; undefined where there is only one. */
function libcOf(os) {
  if (os !== 'linux') return undefined
  // Reports may list network addresses, which takes seconds where names are looked up.
  process.report.excludeNetwork = true
  return process.report.getReport().header.glibcVersionRuntime ? 'glibc' : 'musl'
}

/** The name of the platform that fits, if there is a package for it. */
export function platformOf(os = process.platform, cpu = process.arch, libc = libcOf(os)) {
  const fits = (one) => one.os === os && one.cpu === cpu && one.libc === libc
  return Object.keys(platforms).find((name) => fits(platforms[name]))
}

/** Where the compiled engine lies, seen from the package in folder `root`. Without `path`, `missing` says why. */
export function findPrebuilt(root, platform = platformOf()) {
  if (!platform) return { missing: `no package brings it for ${process.platform} ${process.arch}` }
  const name = packageName(platform)
  const require = createRequire(join(root, 'package.json'))
  let manifest
  try {
    manifest = require.resolve(`${name}/package.json`)
  } catch {
    return { name, missing: `the package ${name} is not installed` }
  }
  const versionOf = (file) => JSON.parse(readFileSync(file, 'utf8')).version
  const [version, own] = [versionOf(manifest), versionOf(join(root, 'package.json'))]
  if (version !== own) return { name, missing: `${name} has version ${version}, but this is ${own}` }
  return { name, path: require.resolve(name) }
}
