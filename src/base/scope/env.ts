import { currentScope, type Scope } from './scope.js'

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
    set: (env, key, value) => {
      // what a rollout has of its own it changes for itself
      if (own(key) === undefined) return Reflect.set(env, key, value)
      ;(currentScope() as Scope).env[key as string] = String(value)
      return true
    },
    has: (env, key) => own(key) !== undefined || Reflect.has(env, key),
    ownKeys: (env) => [...new Set([...Reflect.ownKeys(env), ...Object.keys(currentScope()?.env ?? {})])],
    getOwnPropertyDescriptor: (env, key) => {
      const value = own(key)
      if (value === undefined) return Reflect.getOwnPropertyDescriptor(env, key)
      return { value, writable: true, enumerable: true, configurable: true }
    },
  })
}
