/** What happens to experiences between rollout and training: operators that filter, change and count. */

export {
  type Operator,
  type OperatorContext,
  type OperatorEntry,
  type OperatorResult,
  operator,
  type SelectorFeedback,
} from './operator.js'
export {
  type AdvantageStep,
  ExperiencePipeline,
  type OperatorReport,
  type PipelineOptions,
  type PipelineReport,
} from './pipeline.js'
export { operators } from './registry.js'
export { runTaskPipeline } from './task-pipeline.js'
