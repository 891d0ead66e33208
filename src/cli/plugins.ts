/** Loads the plugins of `--plugin-dir` and TRINITY_PLUGIN_DIRS, before anything looks into a registry. */
export async function usePlugins(option?: string): Promise<void> {
  if (option === undefined && !process.env.TRINITY_PLUGIN_DIRS) return
  const { loadPlugins, pluginDirs } = await import('../plugin/index.js')
  // by address: the public exports are the host of the plugins, and nothing of them is needed here
  const host = (await import(new URL('../index.js', import.meta.url).href)) as Readonly<Record<string, unknown>>
  await loadPlugins(pluginDirs(option), host)
}
