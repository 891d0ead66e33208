import type { EngineFacts } from '../../config/catalog.js'
import type { ServerPackage } from './python.js'

/** A server runs somewhere already, or can be started here. */
export function canServe({ module }: ServerPackage): NonNullable<EngineFacts['canRun']> {
  return (facts, { explorer }) =>
    [explorer.rollout_model, ...explorer.auxiliary_models].some(({ base_url }) => base_url !== null) ||
    facts.hasPackage(module)
}
