/**
 * What is learned from: task sets and selectors, experiences as records, operators, and the buffers between rollout and
 * training.
 * @module
 */

export {
  type BufferContext,
  type BufferKind,
  bufferKinds,
  type ExperienceBuffer,
  ExperienceFile,
  ExperienceView,
  type GivenBuffer,
  openBuffer,
  type PriorityFn,
  priorityFn,
  priorityFns,
} from './buffer/index.js'
export { type DatasetEntry, dataset, datasets, Place, type PlacedFile } from './dataset/index.js'
export {
  decodeExperience,
  decodeExperiences,
  type Eid,
  encodeExperience,
  encodeExperiences,
  formatters,
  fromJsonLine,
  groupBy,
  responseLength,
  rid,
  sid,
  TrainingData,
  tid,
  toJsonLine,
  uid,
} from './experience/index.js'
export { type RepoOptions, resolveRepo } from './hub/index.js'
export {
  ExperiencePipeline,
  type Operator,
  type OperatorContext,
  type OperatorEntry,
  type OperatorResult,
  operator,
  operators,
} from './pipeline/index.js'
export {
  CountingSelector,
  type DataRow,
  type DatasetSpec,
  openDataset,
  type RowSource,
  type Selector,
  selector,
  selectors,
  type TaskStorage,
  Taskset,
  TasksetScheduler,
  taskStorages,
} from './task/index.js'
