import type { Logger } from '../base/log/logger.js'
import type { Pcg64 } from '../base/random/index.js'
import type { EnvironmentContext } from '../environment/environment.js'
import type { Task } from '../task/index.js'
import type { AuxiliaryModels } from './auxiliary.js'
import type { RolloutModel } from './rollout-model.js'

/** Everything a workflow gets. */
export interface WorkflowContext {
  readonly task: Task
  /** The model that is trained, for this run alone: history and conversation belong to the run. */
  readonly model: RolloutModel
  /** Judges, teachers and reward models: `explorer.auxiliary_models`, by name or index. */
  readonly auxiliary: AuxiliaryModels
  /** Writes to `log/explorer_runner_N.log`. */
  readonly logger: Logger
  /** Machines for the processes of environments; absent: this one. */
  readonly place?: EnvironmentContext['place']
  /** Seeded by (seed, batch, task, run): the same numbers on every machine and after every restart. */
  readonly random: Pcg64
  /** Fires at the time-out and when the run is cancelled. Calls of the model follow it by themselves. */
  readonly signal: AbortSignal
  /** Number of this run among the repetitions of its task; the first of them for a workflow that repeats itself. */
  readonly run: number
  /** How many runs are wanted: 1, or all of them for a workflow that repeats itself. */
  readonly repeat: number
}
