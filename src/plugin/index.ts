/**
 * Files of a user that add things to the registries: found, compiled, and given the modules of the running program.
 */

export { pluginDirs, pluginFiles } from './files.js'
export type { Host } from './host.js'
export { type LoadedPlugin, loadPlugins } from './load.js'
export { pluginFolders, pluginPlace } from './place.js'
