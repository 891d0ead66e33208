import { Registry } from '../base/registry.js'
import type { EnvironmentEntry } from './environment.js'
import { gridWorld } from './grid-world.js'

/**
 * Environments by the name that `workflow_args.environment` gives.
 * @example
 * import { environments } from 'trinity-rft'
 *
 * for (const name of environments.names()) console.log(name, environments.get(name).doc)
 */
export const environments = new Registry<EnvironmentEntry>('environment', {
  grid_world: gridWorld,
})
