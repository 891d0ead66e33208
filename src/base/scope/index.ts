/**
 * Code of others that runs for one rollout among many in this process finds its own model: through the environment, and
 * through clients that were made before.
 */

import { installEnv } from './env.js'
import { installFetch } from './fetch.js'

export { loadingScope, modelEnv } from './model-env.js'
export { currentScope, inScope, PLACEHOLDER, type Scope } from './scope.js'

/** Scopes have no effect before this was called. Must happen before the code of others is loaded. */
export function installScopes(): void {
  installEnv()
  installFetch()
}
