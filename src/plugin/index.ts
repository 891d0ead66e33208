export { dottedPathHint } from './dotted.js'
export { pluginDirs, pluginFiles } from './files.js'
export { type Host, type LoadedPlugin, loadPlugins } from './load.js'
