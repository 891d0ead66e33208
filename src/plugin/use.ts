import type { LoadedPlugin } from './index.js'

/** Loads the plugins of `--plugin-dir` and TRINITY_PLUGIN_DIRS, before anything looks into a registry. */
export async function usePlugins(option?: readonly string[]): Promise<void> {
  if (option === undefined && !process.env.TRINITY_PLUGIN_DIRS) return
  const { pluginDirs } = await import('./index.js')
  // by address: the entry knows all public exports, which plugins get, and nothing of them is needed here
  const entry = (await import(new URL('../plugin.js', import.meta.url).href)) as {
    loadPlugins(dirs: readonly string[]): Promise<LoadedPlugin[]>
  }
  await entry.loadPlugins(pluginDirs(option))
}
