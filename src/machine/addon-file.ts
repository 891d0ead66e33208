import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fallback, findPrebuilt } from '../../native/prebuilt.mjs'
import { PACKAGE_ROOT } from '../base/package-root.js'

/** Where scripts/build-native.mjs puts what it compiles. */
export function builtAddon(root: string = PACKAGE_ROOT): string {
  return join(root, 'native', 'build', 'trinity.node')
}

/** Where scripts/prebuild-wasm.mjs puts what it compiles. */
export function builtWasm(root: string = PACKAGE_ROOT): string {
  return join(root, 'native', 'build', 'prebuilt', fallback, 'trinity.cjs')
}

/** The compiled half of the native engine and where it comes from; or why there is none. */
export type AddonFile =
  /** `instead`, of WebAssembly: why there is nothing faster. */
  | { readonly path: string; readonly origin: 'named' | 'compiled' | 'package' | 'wasm'; readonly instead?: string }
  | { readonly path?: undefined; readonly missing: string }

/** A file that the user names, else what was compiled on this machine, else the package made for it, else WebAssembly. */
export function findAddon(env: NodeJS.ProcessEnv = process.env, root: string = PACKAGE_ROOT): AddonFile {
  const named = env.TRINITY_NATIVE_ADDON
  if (named === 'wasm') return findWasm('TRINITY_NATIVE_ADDON asks for it', root)
  if (named) return { path: named, origin: 'named' }
  const built = builtAddon(root)
  if (existsSync(built)) return { path: built, origin: 'compiled' }
  const { path, missing = 'no package brings it' } = findPrebuilt(root)
  if (path) return { path, origin: 'package' }
  const wasm = findWasm(missing, root)
  return wasm.path === undefined ? { missing } : wasm
}

/** The engine as WebAssembly: slower, for any machine. `instead` says why it is taken. */
export function findWasm(instead: string, root: string = PACKAGE_ROOT): AddonFile {
  if (existsSync(builtWasm(root))) return { path: builtWasm(root), origin: 'wasm', instead }
  const { path, missing = '' } = findPrebuilt(root, fallback)
  return path ? { path, origin: 'wasm', instead } : { missing }
}

/** What to do where there is none, it does not load, or it is the slow one. What the user asked for comes first. */
export function addonHint({ TRINITY_NATIVE_ADDON: named }: NodeJS.ProcessEnv = process.env): string {
  if (named === 'wasm') return 'TRINITY_NATIVE_ADDON asks for WebAssembly: unset it to use the compiled engine'
  return named ? 'TRINITY_NATIVE_ADDON names this file: correct it or unset it' : INSTALL
}

const INSTALL =
  'install trinity-rft again with its optional packages (without --omit=optional or --no-optional); ' +
  'where none fits, install a C++ compiler (Debian/Ubuntu: apt install g++, Fedora: dnf install gcc-c++, ' +
  'macOS: xcode-select --install) and run `TRINITY_BUILD_NATIVE=1 npm rebuild trinity-rft`, ' +
  'or `npm run build:native` in a checkout'
