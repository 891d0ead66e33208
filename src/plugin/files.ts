import { statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { delimiter, join, resolve } from 'node:path'
import { TrinityError } from '../base/error.js'

/** Directories to load plugins from: the option, then TRINITY_PLUGIN_DIRS (separated as in PATH); each once. */
export function pluginDirs(option?: string | readonly string[], env: NodeJS.ProcessEnv = process.env): string[] {
  const given = option === undefined ? [] : typeof option === 'string' ? [option] : option
  const named = (env.TRINITY_PLUGIN_DIRS ?? '').split(delimiter).filter((dir) => dir.trim() !== '')
  return [...new Set([...given, ...named].map((dir) => resolve(dir)))]
}

const PLUGIN = /\.(ts|mts|js|mjs)$/
const NOT_PLUGIN = /^[_.]|\.d\.m?ts$|\.(test|spec)\.\w+$/

/** Whether a file's name is that of code that can be loaded. */
export const isPluginFile = (path: string): boolean => PLUGIN.test(path)

/**
 * The plugins of a directory in the order of their names; files with a leading `_` are for the others to import. A file
 * stands for itself.
 */
export async function pluginFiles(dir: string): Promise<string[]> {
  if (PLUGIN.test(dir) && statSync(dir, { throwIfNoEntry: false })?.isFile()) return [dir]
  const entries = await readdir(dir, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    throw new TrinityError('plugin/no-directory', `cannot read the plugin directory '${dir}'`, {
      path: dir,
      hint:
        error.code === 'ENOTDIR'
          ? 'give a directory, or a file that ends with .ts, .mts, .js or .mjs'
          : 'check --plugin-dir and TRINITY_PLUGIN_DIRS',
      cause: error,
    })
  })
  return entries
    .filter((entry) => !entry.isDirectory() && PLUGIN.test(entry.name) && !NOT_PLUGIN.test(entry.name))
    .map((entry) => entry.name)
    .sort()
    .map((name) => join(dir, name))
}
