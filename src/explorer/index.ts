export { Explorer } from './explorer.js'
export type { ExplorerMark } from './mark.js'
export type { EvaluationPlan, ExplorerParts, ExplorerSync, OpenAuxiliary } from './parts.js'
export { isSyncPoint } from './sync-point.js'
