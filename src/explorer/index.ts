/** Tasks to experiences: batches of rollouts, their runners, time-outs and retries, evaluation. */

export { Explorer } from './explorer.js'
export type { ExplorerMark } from './mark.js'
export type { EvaluationPlan, ExplorerParts, ExplorerSync, OpenAuxiliary } from './parts.js'
export { isSyncPoint } from './sync-point.js'
