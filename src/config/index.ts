/**
 * The YAML of a run: its schema, reading with file and line, stages, and every value that a file leaves open. What is
 * registered elsewhere (algorithms, engines, …) comes in as a catalog.
 */

export {
  type AlgorithmFacts,
  type Catalog,
  type Component,
  type EngineFacts,
  type EngineLookup,
  type EngineRole,
  type Lookup,
  preferredMode,
} from './catalog.js'
export { configReference } from './docs.js'
export type { Given } from './field.js'
export { type Gpu, type GpuPlan, planGpus } from './gpu-plan.js'
export { jsonSchema } from './json-schema.js'
export { type LoadOptions, loadConfig, parseConfig, readConfig, readText } from './load.js'
export { trainsIn } from './mode.js'
export { type PlanLine, planOf, tooFewTasks } from './plan.js'
export { printConfig } from './print.js'
export { ConfigError, type Problem, problemText } from './problem.js'
export { type Facts, machineFacts } from './resolve/facts.js'
export { type Resolved, type ResolvedStage, resolveConfig } from './resolve/index.js'
export { AGG_MODES } from './section/algorithm.js'
export type {
  Config,
  DataSelectorConfig,
  ExperienceBufferConfig,
  FormatConfig,
  GenerationConfig,
  InferenceModelConfig,
  OperatorConfig,
  ReplayBufferConfig,
  TasksetConfig,
} from './section/config.js'
export { EXPLORER_NAME } from './section/explorer.js'
export type { Parsed, ParsedStage } from './stages.js'
export { ENGINE_TREE_KEYS, type TrainerTree, trainerTree } from './trainer-config.js'
