import type { Experience, Failure } from '../experience/index.js'
import type { Task } from '../task/index.js'
import type { WorkflowEntry } from '../workflow/workflow.js'
import type { Metrics } from './metrics.js'

/** Some or all runs of one task: what one runner does. */
export interface RolloutJob {
  readonly batch: number | string
  readonly kind: 'train' | 'eval'
  readonly task: Task
  /** Place of the task in its batch. */
  readonly taskId: number
  readonly entry: WorkflowEntry
  /** Runs first, first + 1, … */
  readonly first: number
  readonly count: number
}

export interface RolloutResult {
  readonly run: number
  /** What it gave; a failed run gives one experience with its reason. Empty for evaluation. */
  readonly experiences: readonly Experience[]
  readonly metrics: Metrics
  readonly failure?: Failure
  /** Whether the prompt was too long, so that nothing was sampled. */
  readonly isTooLong?: boolean
  readonly attempts: number
}
