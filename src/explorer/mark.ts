import type { ExplorerCounts } from '../monitor/run-counts.js'
import type { SelectorFeedback } from '../pipeline/index.js'
import type { SchedulerState } from '../task/index.js'

/**
 * Where the explorer stands after a step, stored with the experiences of the step. Plain JSON. Whoever restores it goes
 * on with the next step as if nothing had happened.
 */
export interface ExplorerMark {
  readonly version: 1
  readonly step: number
  /** The task sets right after the tasks of this step were drawn. */
  readonly scheduler: SchedulerState
  /** What the selectors have not been told yet: they learn at sync points, so that the order of events cannot matter. */
  readonly feedback: readonly SelectorFeedback[]
  /** Where the kept raw experiences of this step end: what lies behind it is made again. */
  readonly inputEnd?: number
  /** Tokens that were sampled for training up to here. */
  readonly sampledTokens?: number
  /** Counts up to this step. Undefined in checkpoints of earlier releases. */
  readonly counts?: ExplorerCounts
}
