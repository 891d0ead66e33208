import { AsyncLocalStorage } from 'node:async_hooks'

/** Where code that runs for one rollout finds the model, whatever library it asks with. */
export interface Scope {
  /** What it reads in `process.env` instead of what is there. */
  readonly env: Record<string, string>
  /**
   * Where requests to PLACEHOLDER go; undefined: there is no model yet. The models of other rollouts have the same address
   * but for its last part.
   */
  readonly target?: { readonly url: string; readonly key: string }
}

/** Stands for the model in clients that are made before there is a rollout. Nothing answers there. */
export const PLACEHOLDER = 'http://rollout.trinity.invalid'

const storage = new AsyncLocalStorage<Scope>()

export function currentScope(): Scope | undefined {
  return storage.getStore()
}

/** Runs work, and all that it starts, in a scope. */
export function inScope<T>(scope: Scope, work: () => T): T {
  return storage.run(scope, work)
}
