import { basename } from 'node:path'
import { pathToFileURL } from 'node:url'
import vm from 'node:vm'
import { messageOf, TrinityError } from '../base/error.js'
import { inScope, installScopes, loadingScope } from '../base/scope/index.js'
import { pluginFiles } from './files.js'
import { type Host, hostSources, importHint, PACKAGE } from './host.js'
import { installHooks } from './install.js'
import { placeInStack, rememberPlugin } from './place.js'
import { syntaxLine } from './syntax.js'

/** A plugin that has been imported. */
export interface LoadedPlugin {
  /** File name without its ending. */
  name: string
  file: string
}

const loaded = new Map<string, LoadedPlugin>()

/**
 * Imports every plugin of the directories, in order. A plugin that imports `trinity-rft` or a subpath of it gets the modules
 * of this very process, whatever is installed beside it, so that what it registers is there. Files are read where they lie.
 */
export async function loadPlugins(dirs: readonly string[], host: Host): Promise<LoadedPlugin[]> {
  const files: string[] = []
  for (const dir of dirs) files.push(...(await pluginFiles(dir)))
  const fresh = files.filter((file) => !loaded.has(file))
  if (fresh.length > 0) {
    const entries = fresh.map((file) => pathToFileURL(file).href)
    installScopes()
    installHooks({ packageName: PACKAGE, sources: hostSources(host), entries, base: import.meta.url })
  }
  for (const file of fresh) {
    rememberPlugin(file)
    try {
      await inScope(loadingScope(), () => untilIdle(importNatively(pathToFileURL(file).href)))
    } catch (error) {
      throw failed(file, error, host)
    }
    loaded.set(file, { file, name: basename(file).replace(/\.\w+$/, '') })
  }
  return files.map((file) => loaded.get(file) as LoadedPlugin)
}

/** Node's own import. From source this program runs under a test runner, which replaces `import()` by one of its own. */
const importNatively: (url: string) => Promise<unknown> = (() => {
  if (!import.meta.url.endsWith('.ts')) return (url) => import(url)
  const importModuleDynamically = vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER
  return new vm.Script('(url) => import(url)', { importModuleDynamically }).runInThisContext()
})()

/** A top-level `await` on what never comes: when nothing is open any more, Node would end the process without a word. */
async function untilIdle(work: Promise<unknown>): Promise<void> {
  let idle = () => {}
  const never = new Promise((_, reject) => {
    idle = () => reject(new TrinityError('plugin/never', 'its top-level await never ended', { hint: NEVER }))
  })
  process.once('beforeExit', idle)
  try {
    await Promise.race([work, never])
  } finally {
    process.off('beforeExit', idle)
  }
}

const NEVER = 'nothing is open any more that could end it: give what it waits for a deadline, or do not await it there'

function failed(file: string, error: unknown, host: Host): TrinityError {
  const message = messageOf(error)
  // Errors of our own say where and how to fix it, but not in which plugin.
  const hint = error instanceof TrinityError ? error.hint : importHint(message, host)
  const own = error instanceof TrinityError && error.path !== undefined ? ` (${error.path})` : ''
  const place = placeIn(file, error)
  return new TrinityError('plugin/failed', `plugin '${basename(file)}' failed: ${place.message ?? message}${own}`, {
    path: place.path,
    hint,
    cause: error,
  })
}

/** File, line and column in the plugin (or in a file it imports), from the message or the stack. */
function placeIn(file: string, error: unknown): { path: string; message?: string } {
  const syntax = /^(?:SyntaxError: )?(.+\.m?[jt]s:\d+:\d+): (.+)$/s.exec(messageOf(error))
  if (syntax) return { path: syntax[1], message: syntax[2] }
  const stack = (error instanceof Error && error.stack) || ''
  const path = placeInStack(stack, [file.slice(0, -basename(file).length)])
  if (path !== undefined) return { path }
  const line = error instanceof SyntaxError ? syntaxLine(file) : undefined
  return { path: line === undefined ? file : `${file}:${line}` }
}
