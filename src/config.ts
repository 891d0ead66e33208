/**
 * A configuration on its way from a file to a finished run: read, checked, resolved, run, watched.
 * @module
 */

export { Checkpoints } from './checkpoint/index.js'
export {
  type Catalog,
  type Config,
  ConfigError,
  type Facts,
  jsonSchema,
  type LoadOptions,
  loadConfig,
  machineFacts,
  type Parsed,
  type Problem,
  parseConfig,
  printConfig,
  type Resolved,
  type ResolvedStage,
  resolveConfig,
} from './config/index.js'
export { importVerlText, type VerlImport } from './import-verl/import.js'
export {
  createView,
  type Monitor,
  type MonitorContext,
  type MonitorEntry,
  monitorEntry,
  monitors,
  type RunSummary,
  type RunView,
} from './monitor/index.js'
export { loadCatalog } from './run/catalog.js'
export { type RunOptions, type RunResult, run, Stop } from './run/index.js'
