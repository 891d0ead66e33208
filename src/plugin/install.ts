import module from 'node:module'
import { type HookData, isHost, PluginHooks } from './hooks.js'
import { moduleUrl } from './module-url.js'
import { stripByNode } from './node-types.js'

/** In Node from 22.15 on; the types of the oldest supported Node do not know it. */
type RegisterHooks = (hooks: {
  resolve(specifier: string, context: { parentURL?: string }, next: (s: string, c: object) => { url: string }): object
  load(url: string, context: object, next: (url: string, context: object) => object): object
}) => void

/** Makes Node's loader ask our hooks: in this thread where Node can do that, otherwise in the loader's thread. */
export function installHooks(data: HookData): void {
  const { registerHooks } = module as unknown as { registerHooks?: RegisterHooks }
  if (!registerHooks) {
    module.register(moduleUrl('hooks', import.meta.url).href, { data })
    return
  }
  const hooks = new PluginHooks(data, stripByNode)
  registerHooks({
    resolve(specifier, context, next) {
      const target = hooks.redirect(specifier, context.parentURL)
      if (isHost(target)) return { url: target, format: 'module', shortCircuit: true }
      const resolved = next(target ?? specifier, context)
      hooks.note(resolved.url, context.parentURL)
      return resolved
    },
    load: (url, context, next) => hooks.load(url) ?? next(url, context),
  })
}
