import { currentScope } from './scope.js'

let isInstalled = false

/** From now on `process.env` reads differently inside a scope, also for programs that are started there. */
export function installEnv(): void {
  if (isInstalled) return
  isInstalled = true
  const own = (key: string | symbol) => {
    const env = currentScope()?.env
    return env && typeof key === 'string' && Object.hasOwn(env, key) ? env[key] : undefined
  }
  process.env = new Proxy(process.env, {
    get: (env, key) => own(key) ?? Reflect.get(env, key),
    has: (env, key) => own(key) !== undefined || Reflect.has(env, key),
    ownKeys: (env) => [...new Set([...Reflect.ownKeys(env), ...Object.keys(currentScope()?.env ?? {})])],
    getOwnPropertyDescriptor: (env, key) => {
      const value = own(key)
      if (value === undefined) return Reflect.getOwnPropertyDescriptor(env, key)
      return { value, writable: true, enumerable: true, configurable: true }
    },
  })
}
