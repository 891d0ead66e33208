/** Where it is acted out: worlds behind one contract of reset and step. */

export { AlfWorld, type AlfWorldOptions } from './alfworld/index.js'
export { checkEnvironment, type EnvironmentProblem, environmentOf } from './args.js'
export {
  type Awaitable,
  type Environment,
  type EnvironmentContext,
  type EnvironmentEntry,
  type EpisodeSpec,
  environment,
  type PastTurn,
  type Persona,
  type Start,
  type Transition,
  type Turn,
} from './environment.js'
export { Episode, type EpisodeMark, type EpisodeParts } from './episode.js'
export { type MathProblem, readProblem } from './math/problem.js'
export { OpenEnvironment, openEnvironment, type Snapshot } from './open.js'
export type { WorldPlace } from './python/placed-process.js'
export { environments } from './registry.js'
export { ScienceWorld } from './scienceworld/index.js'
