import { readdirSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { messageOf, TrinityError } from '../error.js'

const MODULE = /^(?!_)[^.].*(?<!\.d)(?<!\.test)\.(?:js|mjs|cjs|ts|mts)$/

/**
 * Imports every module that lies directly in the plugin folders: the given one, else those of TRINITY_PLUGIN_DIRS.
 * A module registers what it brings when it is imported. One that fails stops the run.
 */
export async function loadPlugins(dir?: string, env: NodeJS.ProcessEnv = process.env): Promise<string[]> {
  const dirs = dir !== undefined ? [dir] : (env.TRINITY_PLUGIN_DIRS ?? '').split(delimiter).filter((one) => one !== '')
  const loaded: string[] = []
  for (const folder of dirs) {
    for (const file of modulesOf(folder)) {
      try {
        await import(pathToFileURL(file).href)
      } catch (error) {
        const typescript =
          /\.m?ts$/.test(file) && (error as NodeJS.ErrnoException).code === 'ERR_UNKNOWN_FILE_EXTENSION'
        throw new TrinityError('plugin/load', `plugin failed: ${messageOf(error)}`, {
          path: file,
          hint: typescript
            ? 'this Node cannot run TypeScript: use Node 22.18 or later, or compile the plugin'
            : undefined,
          cause: error,
        })
      }
      loaded.push(file)
    }
  }
  return loaded
}

function modulesOf(folder: string): string[] {
  try {
    const names = readdirSync(resolve(folder)).filter((name) => MODULE.test(name))
    return names.sort().map((name) => join(resolve(folder), name))
  } catch (error) {
    throw new TrinityError('plugin/not-found', `no plugin folder ${folder}`, { path: folder, cause: error })
  }
}
