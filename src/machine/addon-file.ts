import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findPrebuilt } from '../../native/prebuilt.mjs'

/** The folder that holds package.json: the same from src/ and from dist/. */
export const PACKAGE_ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Where scripts/build-native.mjs puts what it compiles. */
export function builtAddon(root: string = PACKAGE_ROOT): string {
  return join(root, 'native', 'build', 'trinity.node')
}

/** The compiled half of the native engine and where it comes from; or why there is none. */
export type AddonFile =
  | { readonly path: string; readonly origin: 'named' | 'compiled' | 'package' }
  | { readonly path?: undefined; readonly missing: string }

/** A file that the user names, else what was compiled on this machine, else the package made for it. */
export function findAddon(env: NodeJS.ProcessEnv = process.env, root: string = PACKAGE_ROOT): AddonFile {
  if (env.TRINITY_NATIVE_ADDON) return { path: env.TRINITY_NATIVE_ADDON, origin: 'named' }
  const built = builtAddon(root)
  if (existsSync(built)) return { path: built, origin: 'compiled' }
  const { path, missing = 'no package brings it' } = findPrebuilt(root)
  return path ? { path, origin: 'package' } : { missing }
}

/** What to do where there is none. */
export const ADDON_HINT =
  'install trinity-rft again with its optional packages (without --omit=optional or --no-optional); ' +
  'where none fits, install a C++ compiler (Debian/Ubuntu: apt install g++, Fedora: dnf install gcc-c++, ' +
  'macOS: xcode-select --install) and run `TRINITY_BUILD_NATIVE=1 npm rebuild trinity-rft`, ' +
  'or `npm run build:native` in a checkout'
