import type { LogDir } from '../base/log/logger.js'
import type { ExperienceBuffer } from '../buffer/index.js'
import type { Config, InferenceModelConfig } from '../config/index.js'
import type { SampleModel } from '../engine/contract.js'
import type { EnvironmentContext } from '../environment/environment.js'
import type { Monitor } from '../monitor/monitor.js'
import type { SpanLane } from '../monitor/span/span.js'
import type { RunView } from '../monitor/view.js'
import type { ExperiencePipeline } from '../pipeline/index.js'
import type { Taskset, TasksetScheduler } from '../task/index.js'
import type { OpenReward } from '../workflow/auxiliary.js'
import type { ModelText } from '../workflow/text.js'

/** When new weights reach the samplers. */
export interface ExplorerSync {
  /** Version of the samplers' weights. */
  readonly version: number
  /**
   * Called once per step, in order, after the experiences of the step are in the buffer. At a sync point (see
   * `isSyncPoint`) nothing is being sampled while it runs. Called again for the step of the mark after a resume: it
   * must return at once for a step that it has already dealt with.
   */
  afterStep(step: number, signal: AbortSignal): Promise<void>
}

/** An entry of `explorer.auxiliary_models`, opened: `samplers` for one that answers, `reward` for a sequence classifier. */
export interface OpenAuxiliary {
  readonly config: InferenceModelConfig
  readonly text: ModelText
  readonly samplers?: readonly SampleModel[]
  readonly reward?: OpenReward['model']
}

/** Result of an evaluation. */
export interface EvaluationPlan {
  readonly step: number
  /** Version of the weights that were evaluated. */
  readonly version: number
  readonly metrics: Readonly<Record<string, number>>
}

export interface ExplorerParts {
  readonly config: Config
  /** The rollout engines. */
  readonly model: readonly SampleModel[]
  readonly text: ModelText
  readonly auxiliary?: readonly OpenAuxiliary[]
  /** Machines for the processes of environments; absent: this one. */
  readonly place?: EnvironmentContext['place']
  /** Absent in mode bench. */
  readonly scheduler?: TasksetScheduler
  readonly evalTasksets: readonly Taskset[]
  /** Absent in mode bench. */
  readonly pipeline?: ExperiencePipeline
  /** Told when the last experience is in. */
  readonly buffer?: Pick<ExperienceBuffer, 'finish'>
  readonly sync: ExplorerSync
  readonly monitor: Monitor
  readonly view?: RunView
  readonly logs: LogDir
  readonly spans?: SpanLane
  /** Told how many experiences of a step went into the buffer. */
  readonly made?: (experiences: number) => void
  /**
   * Whether the evaluation that is due after a step is left to the one of the final weights. Default: never, except
   * after the last step. A caller of `run` makes that evaluation with `evaluateFinal`.
   */
  readonly leftToFinal?: (step: number, version: number) => boolean
  /** Keeps the best evaluation on disk. */
  readonly bestEval?: (evaluation: EvaluationPlan) => void | Promise<void>
}
