/**
 * Plugins from a program of your own, and the registries they fill.
 * @module
 */
import { type Host, loadPlugins as loadInto } from './plugin/index.js'
import type { LoadedPlugin } from './plugin/load.js'

export { Registry } from './base/registry.js'
export { pluginDirs, pluginFiles } from './plugin/files.js'
export type { LoadedPlugin } from './plugin/load.js'

/**
 * Imports every plugin of the directories, in order. What they import from this package is what this process has loaded,
 * whatever is installed beside them, so that what they register is there.
 * @example
 * import { loadPlugins, pluginDirs } from 'trinity-rft/plugin'
 *
 * const loaded = await loadPlugins(pluginDirs('./plugins'))
 * console.log(loaded.map(({ name }) => name))
 */
export async function loadPlugins(dirs: readonly string[]): Promise<LoadedPlugin[]> {
  return dirs.length === 0 ? [] : loadInto(dirs, await program())
}

/** Every entry of the package: a new one gets a line here and one in package.json. */
async function program(): Promise<Host> {
  return {
    '.': await import('./index.js'),
    './agent': await import('./agent.js'),
    './algorithm': await import('./algorithm.js'),
    './engine': await import('./engine.js'),
    './config': await import('./config.js'),
    './data': await import('./data.js'),
    './plugin': await import('./plugin.js'),
    './testing': await import('./testing.js'),
  }
}
